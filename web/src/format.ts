// Numbers as a person reads them; the exact number stands in a title or a table cell's data.

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const TIME_UNITS: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

function significant(value: number): string {
    if (value === 0) return "0";
    const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return value.toFixed(digits).replace(/\.0+$/, "");
}

export function bytes(value: number): string {
    let unit = 0;
    while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
        value /= 1024;
        unit++;
    }
    return `${unit === 0 ? String(Math.round(value * 100) / 100) : significant(value)} ${BYTE_UNITS[unit]}`;
}

export function time(ns: number): string {
    const [scale, unit] = TIME_UNITS.find(([size]) => ns >= size) ?? TIME_UNITS[3]!;
    return `${significant(ns / scale)} ${unit}`;
}

// Made once: toLocaleString() is several times as slow, and pictures write hundreds of numbers.
const WHOLE = new Intl.NumberFormat("en-US");

export function count(value: number): string {
    return Number.isInteger(value) ? WHOLE.format(value) : significant(value);
}

// Counts on an axis: 1.2k, 3M.
export function short(value: number): string {
    for (const [scale, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const)
        if (Math.abs(value) >= scale) return `${significant(value / scale)}${unit}`;
    return Number.isInteger(value) ? String(value) : significant(value);
}

export function percent(share: number | null): string {
    return share === null || !Number.isFinite(share) ? "–" : `${(100 * share).toFixed(1)}%`;
}

// A kernel's name without its parameters; the whole name on hover.
export function shortName(name: string | null): string {
    if (!name) return "?";
    name = name.replace(/^void /, ""); // a template's name says what it returns
    let depth = 0;
    for (let i = name.length - 1; name.endsWith(")") && i > 0; i--) {
        if (name[i] === ")") depth++;
        if (name[i] === "(" && --depth === 0) return name.slice(0, i);
    }
    return name;
}
