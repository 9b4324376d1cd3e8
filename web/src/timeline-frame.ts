// Where the timeline has what: its lanes from top to bottom, and the range of time from left to right.
import type { Chunk } from "./lanes";
import type { Theme } from "./theme";

export interface Kind {
    name: string;
    class: "host" | "mpi" | "api" | "kernel" | "copy" | "synchronise" | "openmp" | "latency" | "other";
}

export interface Location {
    name: string;
    process: string;
    rows: number; // depth of its activities
    chunks: Chunk[];
    path: { chunks: Chunk[] }; // place: the location that the path comes from, plus 1; link: when it left it
    waits: { chunks: Chunk[] }; // kind: a pattern; place: the location waited for, plus 1; link: when it was done
}

export interface TimelineData {
    duration: number; // ns
    kinds: Kind[];
    patterns: string[];
    locations: Location[];
}

export const LABELS = 168,
    AXIS = 26,
    ROW = 13,
    PATH = 5,
    WAITS = 6;
const GAP = 8,
    ROWS_MAX = 5;
export const HEADING = 16; // the name of a process, above its first lane

const ORDER: Record<Kind["class"], number> = {
    host: 7,
    mpi: 1,
    api: 0,
    synchronise: 4,
    kernel: 2,
    copy: 3,
    openmp: 5,
    latency: 6,
    other: 7,
};
export const colourOf = (theme: Theme, kind: Kind | undefined): string =>
    theme.palette[ORDER[kind?.class ?? "other"] % theme.palette.length];

export const startsProcess = (data: TimelineData, index: number) =>
    index === 0 || data.locations[index - 1].process !== data.locations[index].process;

// Of measurements alone: it has nothing to show in time.
export const isEmpty = ({ rows, chunks, path, waits }: Location) =>
    !rows && !chunks.length && !path.chunks.length && !waits.chunks.length;

export const rowsOf = ({ locations }: TimelineData, lane: number) => Math.min(locations[lane].rows, ROWS_MAX);
// The path, its rows of activities, and its waits.
export const laneHeight = (data: TimelineData, lane: number) => PATH + rowsOf(data, lane) * ROW + WAITS;

// The top of each lane, and the height of all of them.
export function lanesOf(data: TimelineData): { tops: number[]; height: number } {
    let y = AXIS;
    const tops = data.locations.map((lane, index) => {
        if (startsProcess(data, index)) y += HEADING;
        const top = y;
        if (!isEmpty(lane)) y += laneHeight(data, index) + GAP;
        return top;
    });
    return { tops, height: y + 4 };
}

export type Range = [number, number]; // ns

export interface Frame {
    data: TimelineData;
    tops: number[];
    height: number;
    width: number;
    from: number; // ns
    to: number;
    scale: number; // units per ns
}

export const xOf = ({ from, scale }: Frame, t: number) => LABELS + (t - from) * scale;
export const timeAt = ({ from, scale }: Frame, x: number) => from + (x - LABELS) / scale;
