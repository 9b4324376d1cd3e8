// Small parts that several views share.
import type { ComponentChildren } from "preact";
import { bytes, count, counted } from "../format";
import type { Answer } from "./ask";
import { useModel } from "./model";
import type { LineRow } from "./source";
import { NO_FILTER, isFiltered } from "./state";

export const plural = (n: number, one: string, many = `${one}s`) => (n === 1 ? one : many);

// Whoever came by keyboard moves among the buttons of a group (radios, tabs) with arrows, and chooses. Whoever clicked
// goes on stepping through records.
export function onArrows(event: KeyboardEvent & { currentTarget: HTMLElement }, back: string[], on: string[]) {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=radio], [role=tab]")],
        at = all.findIndex((button) => button === event.target);
    const by = back.includes(event.key) ? -1 : on.includes(event.key) ? 1 : 0;
    if (!by || at < 0 || event.ctrlKey || event.metaKey || event.altKey || !all[at].matches(":focus-visible")) return;
    const next = all[(at + by + all.length) % all.length];
    next.focus();
    next.click();
    event.preventDefault();
    event.stopPropagation();
}

// Where nothing is to be shown: why, and what to do.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
    return (
        <div class="empty">
            <b>{title}</b>
            {children && <div>{children}</div>}
        </div>
    );
}

// Of a launch without accesses: not recorded, or lost.
export function Unrecorded() {
    const { unreadable } = useModel().launch;
    if (unreadable)
        return (
            <Empty title="The accesses of this launch cannot be read.">
                The file is damaged: the warnings (⚠, above) name the file and the position.
            </Empty>
        );
    return <Empty title="No accesses were recorded for this launch." />;
}

// What a filter that lets nothing through looks like.
export function NothingLeft({ what }: { what: string }) {
    const model = useModel();
    if (!isFiltered(model.state.filter))
        return model.launch.spaces.length ? <Empty title={`This launch has no ${what}.`} /> : <Unrecorded />;
    return (
        <Empty title={`No ${what} match the filter.`}>
            <button class="primary" onClick={() => model.set({ filter: NO_FILTER })}>
                Clear the filter
            </button>
        </Empty>
    );
}

export function Failed({ answer }: { answer: Pick<Answer<unknown>, "error" | "retry"> }) {
    return (
        <Empty title="The data could not be read.">
            <p>{answer.error}</p>
            <button onClick={answer.retry}>Try again</button>
        </Empty>
    );
}

// The head of a view: what it is about on the left, its controls on the right.
export function Head({ children, tools }: { children?: ComponentChildren; tools?: ComponentChildren }) {
    return (
        <div class="head">
            <div class="about">{children}</div>
            {tools && <div class="tools">{tools}</div>}
        </div>
    );
}

export function Choice<T extends string>({
    label,
    value,
    options,
    onChoose,
}: {
    label: string;
    value: T;
    options: [T, string][];
    onChoose: (value: T) => void;
}) {
    return (
        <div
            class="choice"
            role="radiogroup"
            aria-label={label}
            onKeyDown={(event) => onArrows(event, ["ArrowLeft", "ArrowUp"], ["ArrowRight", "ArrowDown"])}
        >
            {options.map(([key, text]) => (
                <button
                    role="radio"
                    aria-checked={key === value}
                    tabIndex={key === value ? 0 : -1}
                    class={key === value ? "on" : ""}
                    onClick={() => onChoose(key)}
                >
                    {text}
                </button>
            ))}
        </div>
    );
}

// A part of a whole as a thin bar behind its text.
export function Share({ value, children, tone }: { value: number; children: ComponentChildren; tone?: string }) {
    return (
        <span class={`bar ${tone ?? ""}`} style={{ "--part": `${Math.max(0, Math.min(1, value)) * 100}%` }}>
            {children}
        </span>
    );
}

// The colours of accesses.
export const Inks = () => (
    <span class="soft inks">
        <i class="ramp load" />
        read <i class="ramp store" />
        written <i class="ramp atomic" />
        both
    </span>
);

// What a group of requests cost, in words.
export function costTexts(row: Omit<LineRow, "line" | "findings">): string[] {
    const { records, accesses, sectors, wavefronts } = row;
    return [
        `${counted(records, "request", "requests")}, ${counted(accesses, "access", "accesses")}, ` +
            `${bytes(row.bytes)} requested`,
        ...(sectors ? [`${counted(sectors, "sector", "sectors")}, ideal: ${count(row.idealSectors)}`] : []),
        ...(wavefronts
            ? [`${counted(wavefronts, "wavefront", "wavefronts")}, ideal: ${count(row.idealWavefronts)}`]
            : []),
    ];
}

// How well the traffic was used, and how alarming that is.
export function efficiency(row: {
    sectors: number;
    idealSectors: number;
    wavefronts: number;
    idealWavefronts: number;
}): number | null {
    const moved = row.sectors + row.wavefronts,
        ideal = row.idealSectors + row.idealWavefronts;
    return moved ? Math.min(1, ideal / moved) : null;
}
export const toneOf = (share: number | null) =>
    share === null ? "" : share >= 0.8 ? "good" : share >= 0.4 ? "fair" : "poor";
