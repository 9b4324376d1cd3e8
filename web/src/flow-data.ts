// What passes between launches, copies and the host: what src/report/flow-page.c writes. A *place* is one of them,
// or the one at that place of every iteration of a loop; a *link* sums all edges between two places.
import { bytes, counted, shortName } from "./format";

export interface FlowFinding {
    finding: string;
    certain: boolean;
    node: string | null;
    name: string | null;
    other: string | null;
    other_name: string | null;
    variable: string | null;
    allocated_at: string | null;
    bytes: number;
    times: number;
    map: string | null;
    reason: string | null; // why it is only possible
    advice: string;
    legal: string; // when the advice can be followed: "in any case", "if ..."
    trial: string | null; // options of `ctascope try`
}

export interface Place {
    node: string; // "launch 4": the first of them
    kind: string;
    name: string | null; // of the kernel, or the kind of copy
    launch: number | null;
    rank: number;
    stream: number | null; // null: the host thread does it
    stream_name: string | null; // "stream 1", "the default stream"
    thread: number;
    times: number;
    read_bytes: number;
    written_bytes: number;
    dead_bytes: number; // written, and read by nobody
    on_enforced: number; // of `times`, on the longest chain of the program's order
    on_true: number; // and on the longest one that data requires
}

export interface Sums {
    edges: number;
    raw_bytes: number;
    possible_raw_bytes: number;
    war_bytes: number;
    waw_bytes: number;
    commuting_bytes: number;
    race_bytes: number;
}

export interface Part extends Sums {
    allocation: number | null;
    variable: string | null;
    path: string | null;
    line: number | null;
    from: string; // of the first edge
    to: string;
    from_launch: number | null;
    to_launch: number | null;
    first: string; // addresses; the end is exclusive
    end: string;
}

export interface Link extends Sums {
    from: number;
    to: number;
    carried: boolean; // to a later iteration
    parts: Part[];
    parts_left_out: number;
}

export interface Loop {
    first: number;
    last: number;
    times: number;
}

export interface FlowData {
    summary: string[];
    notes: string[];
    chains_judged: boolean;
    longest_chain: number;
    longest_needed_chain: number;
    longest_raw_chain: number;
    findings: FlowFinding[];
    findings_left_out: number;
    finding_places: [number, number][]; // -1: none
    places: Place[];
    places_left_out: number;
    loops: Loop[];
    links: Link[];
    links_left_out: number;
    matrix: { works: number; bin_size: number; bins: number; cells: number[]; labels: string[] };
}

// ---- which links are shown ----

export type LinkKind = "true" | "reuse" | "race";
export const LINK_KINDS: [LinkKind, string, string][] = [
    ["true", "data", "one reads what the other wrote (RAW)"],
    ["reuse", "reuse of memory", "one overwrites what the other read or wrote (WAR, WAW)"],
    ["race", "races", "conflicting accesses that nothing orders"],
];

export const bytesOf = (sums: Sums, kind: LinkKind): number =>
    kind === "true"
        ? sums.raw_bytes
        : kind === "race"
          ? sums.race_bytes
          : sums.war_bytes + sums.waw_bytes + sums.commuting_bytes;

// The kind as which a link is drawn among those that are shown: a race before data before reuse.
export function drawnAs(link: Link, shown: LinkKind[]): LinkKind | null {
    for (const kind of ["race", "true", "reuse"] as const) if (shown.includes(kind) && bytesOf(link, kind)) return kind;
    return null;
}

// Every byte of the true dependence may have been overwritten by stores that were not recorded.
export const isPossible = (sums: Sums) => sums.raw_bytes > 0 && sums.possible_raw_bytes === sums.raw_bytes;

// ---- words ----

export const whatOf = (place: Place) => (place.kind === "launch" ? shortName(place.name) : (place.name ?? place.kind));
export const timesText = (times: number) => (times > 1 ? `, ${counted(times, "time", "times")}` : "");
export const laneText = (place: Place, ranks: boolean) =>
    (ranks ? `rank ${place.rank}, ` : "") + (place.stream === null ? `host thread ${place.thread}` : place.stream_name);

export function sumsText(sums: Sums): string {
    const parts: [number, string][] = [
        [sums.raw_bytes, "read after write"],
        [sums.war_bytes, "overwritten after a read"],
        [sums.waw_bytes, "written again"],
        [sums.commuting_bytes, "updated by atomics of both"],
        [sums.race_bytes, "in a race"],
    ];
    return parts
        .filter(([value]) => value)
        .map(([value, text]) => `${bytes(value)} ${text}`)
        .join(", ");
}

export const partName = (part: Part) =>
    part.variable ?? (part.allocation === null ? "no allocation" : `allocation ${part.allocation}`);
export const fileLine = (path: string | null, line: number | null) =>
    path === null ? null : `${path.split("/").pop()}${line === null ? "" : `:${line}`}`;
