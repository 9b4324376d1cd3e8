// What the page shows, in one value: it is the URL (url.ts), so that a link shows a colleague the
// same. Passing things - what the pointer is at, what is on its way - are not in it.
import type { Filter, GroupBy, OperationKind, Space } from "./source";

export const VIEWS = [
    "findings",
    "source",
    "warps",
    "addresses",
    "banks",
    "sectors",
    "conflicts",
    "order",
    "communication",
    "flow",
    "diff",
] as const;
export type ViewName = (typeof VIEWS)[number];
// Those that other panes have nothing to add to.
export const ALONE: ViewName[] = ["findings", "communication", "flow", "diff"];
export const VIEW_TITLES: Record<ViewName, string> = {
    findings: "Findings",
    source: "Source",
    warps: "Warps",
    addresses: "Addresses",
    banks: "Banks",
    sectors: "Sectors",
    conflicts: "Conflicts",
    order: "Order",
    communication: "Communication",
    flow: "Flow",
    diff: "Diff",
};
export const VIEW_HINTS: Record<ViewName, string> = {
    findings: "performance and correctness problems, largest first",
    source: "traffic and findings next to the code",
    warps: "each request as a row of 32 lanes",
    addresses: "allocations, and which bytes are accessed",
    banks: "a shared-memory request, lane by bank",
    sectors: "the 32-byte sectors that a request transfers",
    conflicts: "bytes that several warps touch",
    order: "addresses against the order of requests",
    communication: "data written by one launch and read by another",
    flow: "dependences, races and needless work between launches, copies and the host",
    diff: "fixed, new and changed findings",
};
export const SPACES: Space[] = ["global", "shared", "local"];
export const SPACE_CODES: Record<number, Space> = { 1: "global", 3: "shared", 5: "local" };
export const KINDS: OperationKind[] = ["load", "store", "atomic"];
export const GROUPS: GroupBy[] = ["line", "site", "allocation", "operation", "cta", "warp"];

export interface Range {
    space: Space;
    first: number;
    last: number; // inclusive
}
export const PIN_NAME_MOST = 40;

// A selection that was pinned: a lane, a whole request, or bytes.
export interface Pin {
    index: number | null; // record; null: bytes
    lane: number | null; // null: all of them
    bytes: Range | null;
    name: string; // beside its letter; often ""
}
// How the address map lays an allocation out: rows of `pitch` bytes.
export interface Shape {
    kind: "array" | "matrix" | "structs" | "banks"; // banks: a matrix of shared memory, a word of each bank a row
    pitch: number; // bytes a row; of an array 0: as wide as the picture
}
export interface Compare {
    other: boolean; // in the other run
    launch: number;
    index: number;
}
export interface State {
    launch: number | null;
    view: ViewName;
    second: ViewName | null; // in the other pane
    filter: Filter;
    record: number | null;
    lane: number | null;
    bytes: Range | null;
    pins: Pin[];
    source: number | null;
    line: number | null; // to bring into view
    group: GroupBy;
    window: Range | null; // of the address map
    shapes: { [allocation: number]: Shape };
    order: { from: number; to: number; first: number; last: number } | null;
    compare: Compare | null;
    time: [number, number] | null;
    split: number; // per cent of the room that the first pane has
    stacked: boolean; // banks: by bank, not lane by bank
    finding: number | null; // of the flow: to show in its graph
    wholeRun: boolean; // source and findings of the run, not of the launch
}

export const NO_FILTER: Filter = {
    ctas: [],
    warps: [],
    sites: [],
    lines: [],
    kinds: [],
    space: null,
    range: null,
    partial: false,
};

export function initialState(): State {
    return {
        launch: null,
        view: "warps",
        second: "addresses",
        filter: NO_FILTER,
        record: null,
        lane: null,
        bytes: null,
        pins: [],
        source: null,
        line: null,
        group: "line",
        window: null,
        shapes: {},
        order: null,
        compare: null,
        time: null,
        split: 50,
        stacked: false,
        finding: null,
        wholeRun: false,
    };
}

export function isFiltered(filter: Filter): boolean {
    return !!(
        filter.ctas.length ||
        filter.warps.length ||
        filter.sites.length ||
        filter.lines.length ||
        filter.kinds.length ||
        filter.space ||
        filter.range ||
        filter.partial
    );
}

// "0-3, 7" as ranges; null where it is not that.
export function parseRanges(text: string): [number, number][] | null {
    const ranges: [number, number][] = [];
    for (const part of text
        .split(",")
        .map((s) => s.trim())
        .filter(Boolean)) {
        const found = /^(\d{1,15})(?:\s*[-–]\s*(\d{1,15}))?$/.exec(part);
        if (!found) return null;
        const first = Number(found[1]),
            last = Number(found[2] ?? found[1]);
        if (last < first) return null;
        ranges.push([first, last]);
    }
    return ranges;
}

export function rangesText(ranges: [number, number][]): string {
    return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

export const hex = (address: number) => `0x${address.toString(16)}`;

export function toggled<T>(list: T[], item: T, same: (a: T, b: T) => boolean = (a, b) => a === b): T[] {
    return list.some((x) => same(x, item)) ? list.filter((x) => !same(x, item)) : [...list, item];
}

// Items by what they are called, in the order in which names first come.
export function grouped<T>(items: T[], nameOf: (item: T) => string): Map<string, T[]> {
    const groups = new Map<string, T[]>();
    for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
    return groups;
}

const samePin = (a: Pin, b: Pin) =>
    a.index === b.index &&
    a.lane === b.lane &&
    a.bytes?.space === b.bytes?.space &&
    a.bytes?.first === b.bytes?.first &&
    a.bytes?.last === b.bytes?.last;

// Pins it, or lets it go.
export const pinToggled = (pins: Pin[], what: Partial<Pin>): Pin[] =>
    toggled(pins, { index: null, lane: null, bytes: null, name: "", ...what }, samePin);
export const isPinned = (pins: Pin[], what: Partial<Pin>): boolean => pinToggled(pins, what).length < pins.length;

export const pinLetter = (i: number): string =>
    i < 26 ? String.fromCharCode(65 + i) : pinLetter(Math.floor(i / 26) - 1) + String.fromCharCode(65 + (i % 26));
