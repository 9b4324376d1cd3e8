// What every part of the page has: the source, the run, the launch that is shown, the state and how
// to change it, and what the pointer is at. A selection made in one view is seen in all because all
// of them read this.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Theme } from "../theme";
import type { FindingRow, LaunchInfo, OperationKind, Records, RunInfo, Site, Source, Space, Touch } from "./source";
import type { One } from "./records";
import { addressText, placeText } from "./places";
import { isActive, lanesOf } from "./requests";
import { pinLetter, type State } from "./state";
import { Store } from "./store";

// What the pointer is at: a lane of a record, a whole record, or bytes and the lanes that touched them.
export interface Hover {
    from: string; // the view
    record: One | null;
    lane: number | null;
    bytes: { space: Space; first: number; last: number } | null;
    touches: Touch[] | null;
    touchCount: number;
    text: string; // for the status line
}

export interface Model {
    source: Source;
    run: RunInfo;
    sites: Map<number, Site>;
    launch: LaunchInfo;
    state: State;
    set: (change: Partial<State>) => void;
    openLaunch: (launch: number, change?: Partial<State>) => void;
    say: (notice: string) => void;
    hover: Store<Hover | null>;
    selected: One | null;
    pinned: (One | null)[]; // as state.pins; null: bytes, or on its way
    // The first page that the filter lets through.
    head: { total: number | null; page: Records | null; error: string | null; retry: () => void };
    findings: FindingRow[] | null; // of the launch or of the run, as the state says
}

export const ModelContext = createContext<Model | null>(null);
export const useModel = (): Model => useContext(ModelContext)!;

export const kindOf = (model: Model, site: number): OperationKind => model.sites.get(site)?.kind ?? "load";
export const widthOf = (model: Model, site: number): number => model.sites.get(site)?.width ?? 1;
export const kindColour = (theme: Theme, kind: OperationKind): string =>
    theme.palette[{ load: 0, store: 1, atomic: 3 }[kind]];
export const readColour = (theme: Theme) => theme.palette[0];
export const writeColour = (theme: Theme) => theme.palette[1];

export function operationText(model: Model, one: One): string {
    const site = model.sites.get(one.site);
    return `${site?.operation ?? "access"} ${site?.width ?? "?"} B`;
}

export function laneText(model: Model, one: One, lane: number): string {
    const width = widthOf(model, one.site);
    if (!isActive(one.mask, lane)) return `lane ${lane}: not active`;
    return (
        `lane ${lane}: ${operationText(model, one)} at ${addressText(model.launch, one.space, one.addresses[lane])} ` +
        `(0x${one.addresses[lane].toString(16)}–0x${(one.addresses[lane] + width - 1).toString(16)})`
    );
}

export function recordText(model: Model, one: One): string {
    return (
        `record ${one.index}: ${operationText(model, one)}, ${one.space}, CTA ${one.cta}, warp ${one.warp}, ` +
        `${placeText(model.run, model.sites.get(one.site))}`
    );
}

// Marked byte ranges of a space: of what the pointer is at, the selected record, the pins.
export interface Mark {
    first: number;
    last: number;
    label: string;
    kind: "hover" | "selected" | "pin" | "bytes";
    lane: number | null;
}

export function lanesMarks(model: Model, one: One, lane: number | null, label: string, kind: Mark["kind"]): Mark[] {
    const width = widthOf(model, one.site),
        marks: Mark[] = [];
    for (let i = 0; i < 32; i++)
        if (isActive(one.mask, i) && (lane === null || lane === i))
            marks.push({ first: one.addresses[i], last: one.addresses[i] + width - 1, label, kind, lane: i });
    return marks;
}

// The bytes of a pin, with their space; none while its record is on its way.
export function pinMarks(model: Model, i: number): (Mark & { space: Space })[] {
    const pin = model.state.pins[i],
        one = model.pinned[i],
        label = pinLetter(i);
    if (pin.bytes) return [{ ...pin.bytes, label, kind: "pin", lane: null }];
    return one ? lanesMarks(model, one, pin.lane, label, "pin").map((mark) => ({ ...mark, space: one.space })) : [];
}

// Letters of the pins on a record, by lane; of a pin of the whole record at its first active lane.
export function lettersOn(model: Model, one: One): Map<number, string> {
    const letters = new Map<number, string>();
    model.state.pins.forEach((pin, i) => {
        if (pin.index === one.index) letters.set(pin.lane ?? lanesOf(one.mask)[0] ?? 0, pinLetter(i));
    });
    return letters;
}

// Shared memory is each CTA's own: marks say offsets in its window.
export function marksOf(model: Model, space: Space): Mark[] {
    const { state, selected, pinned } = model,
        marks: Mark[] = [];
    if (selected?.space === space) marks.push(...lanesMarks(model, selected, null, "", "selected"));
    pinned.forEach((_, i) => marks.push(...pinMarks(model, i).filter((mark) => mark.space === space)));
    if (state.bytes?.space === space)
        marks.push({ first: state.bytes.first, last: state.bytes.last, label: "", kind: "bytes", lane: null });
    const hover = model.hover.get();
    if (hover?.record?.space === space) marks.push(...lanesMarks(model, hover.record, hover.lane, "", "hover"));
    return marks;
}

// Of the lanes that touched the bytes under the pointer, or the selected bytes: "record.lane".
export function touchedLanes(model: Model): Set<string> {
    return new Set((model.hover.get()?.touches ?? []).map((touch) => `${touch.index}.${touch.lane}`));
}
