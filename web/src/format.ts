// Numbers as a person reads them; the exact number stands in a title or a table cell's data.

// They read as in the terminal (src/common/text-table.c), to the last digit.

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const TIME_UNITS = ["ns", "us", "ms", "s"];

// With so many digits. toFixed() rounds a tie up, C's printf() to the even digit.
function fixed(value: number, digits: number): string {
    const up = value.toFixed(digits);
    const tie = Math.abs((value * 2 ** (digits + 1)) % 2) === 1; // exact in binary
    if (!tie || Number(up[up.length - 1]) % 2 === 0) return up;
    return (Number(up) - Math.sign(value) * 10 ** -digits).toFixed(digits);
}

// Three significant digits: 1.50, 12.3, 105.
function threeDigits(value: number): string {
    return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function scaled(value: number, step: number, units: string[]): string {
    let unit = 0;
    // 999.5 and more would print as 1000
    for (let left = value; unit + 1 < units.length && left >= (unit ? 999.5 : step); unit++) value = left /= step;
    return `${unit || !Number.isInteger(value) ? threeDigits(value) : value} ${units[unit]}`;
}

export function bytes(value: number): string {
    return scaled(value, 1024, BYTE_UNITS);
}

export function time(ns: number): string {
    return scaled(ns, 1000, TIME_UNITS);
}

// Ticks at most so many, at round distances (ns).
export function stepOf(span: number, most: number): number {
    const least = Math.max(span / most, 1),
        power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * 0.999999) ?? 10);
}

// A time on the axis, with as many digits as tell neighbouring ticks apart.
export function tickText(t: number, step: number, to: number): string {
    const [scale, unit] = to >= 1e9 ? [1e9, "s"] : to >= 1e6 ? [1e6, "ms"] : to >= 1e3 ? [1e3, "us"] : [1, "ns"];
    return `${(t / scale).toFixed(Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9)))} ${unit}`;
}

// Made once: toLocaleString() is several times as slow, and pictures write hundreds of numbers.
const FULL = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 15 });
const WHOLE = new Intl.NumberFormat("en-US");

export function count(value: number): string {
    return Number.isInteger(value)
        ? WHOLE.format(value)
        : Math.abs(value) < 999.5
          ? threeDigits(value)
          : WHOLE.format(Math.round(value));
}

// "1 process", "2 processes"
export function counted(value: number, one: string, several: string): string {
    return `${count(value)} ${value === 1 ? one : several}`;
}

// Counts on an axis: 1.2k, 3M.
export function short(value: number): string {
    const brief = (v: number) => threeDigits(v).replace(/\.0+$/, "");
    for (const [scale, unit] of [
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
    ] as const)
        if (Math.abs(value) >= scale * (scale > 1e3 ? 0.9995 : 1)) return `${brief(value / scale)}${unit}`;
    return Number.isInteger(value) ? String(value) : brief(value);
}

export function percent(share: number | null): string {
    return share === null || !Number.isFinite(share) ? "-" : `${fixed(100 * share, 1)}%`;
}

// Short forms of kernels' names, which the analysis makes (src/common/short-names.h): what tells kernels apart stays.
const SHORT = new Map<string, string>();
export function learnNames(names: { name: string; short: string }[]): void {
    for (const { name, short } of names) SHORT.set(name, short);
}

// A kernel's short name, else its name without parameters; the whole name belongs into a title.
export function shortName(name: string | null): string {
    if (!name) return "?";
    const known = SHORT.get(name);
    if (known !== undefined) return known;
    name = name.replace(/^void /, ""); // a template's name says what it returns
    let depth = 0;
    for (let i = name.length - 1; name.endsWith(")") && i > 0; i--) {
        if (name[i] === ")") depth++;
        if (name[i] === "(" && --depth === 0) return name.slice(0, i);
    }
    return name;
}

// A name that fits a table's cell: what is too long is cut in the middle, since templates differ at their ends.
export function fitted(name: string, length = 44): string {
    const head = Math.ceil((length - 2) / 2);
    return name.length <= length ? name : `${name.slice(0, head)}..${name.slice(name.length - (length - 2 - head))}`;
}

// A share of the path plus one of the waiting.
export function rating(value: number): string {
    return fixed(value, 3);
}

// Ticks that differ read differently: in full where a short text would hide it.
export function tickTexts(ticks: (number | null)[], text: (value: number) => string): string[] {
    const shown = ticks.map((value) => (value === null ? "" : text(value)));
    const alike = shown.some((one, i) => one !== "" && i > 0 && one === shown[i - 1]);
    return alike ? ticks.map((value) => (value === null ? "" : FULL.format(value))) : shown;
}
