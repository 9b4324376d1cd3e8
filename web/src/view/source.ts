// What the view asks and what it is told: the contract between its pictures and whoever has the
// accesses. Two have them: the server of `ctascope view` (server.ts asks it, and it reads only what
// is asked for) and the page itself when `ctascope report --accesses` has put a launch into it
// (embedded.ts). Both answer alike; tests compare them.
//
// Words. A *record* is one execution of a memory instruction by a warp; its *index* counts the
// records of its launch in the order of the run's files, filtered or not, so that a record has one
// address that can be shared. A *lane* of it has an address and touches [address, address + width).
// Addresses and sizes are bytes. Addresses are numbers: device addresses are below 2^53. Addresses
// of shared memory are offsets in the CTA's window, those of local memory in the thread's frame.

import type { RunFindings } from "../run-findings";

export type Space = "global" | "shared" | "local";
export type OperationKind = "load" | "store" | "atomic";

export interface RunInfo {
    path: string;
    version: string;
    program: string | null;
    arguments: string | null;
    host: string | null;
    recorder: string | null;
    devices: { rank: number; device: number; name: string; sms: number }[];
    streams: { stream: number; rank: number; device: number; kind: string; name: string }[]; // name: "stream 1"
    kernels: { kernel: number; name: string; short: string; source: number | null; line: number | null }[];
    sources: { source: number; path: string; hasText: boolean }[];
    sites: Site[];
    launchCount: number;
    recordedLaunchCount: number;
    accessCount: number;
    hasValues: boolean;
    warnings: string[]; // dropped accesses, files that end too early, sampled CTAs, still growing
    sampled: string | null; // an embedded page that holds a part: which, in words
    hasCommunication: boolean; // `communication()` has something to show
    hasTime: boolean; // the report's page of the run's time is at "time"
    otherRun: string | null; // path of the run that this one is compared with
}

export interface Site {
    site: number;
    function: string;
    operation: string; // "load", "store", "atomic add", ...
    kind: OperationKind;
    space: Space | "generic";
    width: number;
    source: number | null;
    line: number | null;
    column: number | null;
    inlinedAt: string | null;
    type: string | null; // of the element, as the source says
    variable: string | null;
}

// ---- timeline ----

export interface TimelineRow {
    rank: number;
    device: number;
    stream: number;
    // Of [from, to): single activities if they are few, else bins from left to right.
    items: TimelineItem[] | null;
    bins: { count: number; busy: number; kernel: number }[] | null; // busy: share, 0..1
}
export interface TimelineItem {
    kind: "launch" | "copy";
    id: number; // launch or copy
    name: string;
    start: number; // ns from the run's begin
    end: number;
    recorded: boolean;
}
export type LaunchSort = "launch" | "time" | "accesses"; // the last two: largest first
export interface LaunchRow {
    launch: number;
    kernel: number;
    rank: number;
    device: number;
    stream: number;
    ordinal: number;
    grid: [number, number, number];
    block: [number, number, number];
    start: number;
    end: number;
    records: number;
    accesses: number;
    recorded: "all" | "sample" | "none";
}

// ---- one launch ----

export interface Allocation {
    allocation: number;
    address: number;
    size: number;
    kind: string;
    variable: string | null;
    declaration: string | null; // "float *a"
    type: string | null; // of an element
    elementBytes: number | null;
    path: string | null;
    line: number | null;
    touched: boolean; // by the launch
}
export interface LaunchInfo extends LaunchRow {
    name: string;
    warpsPerCta: number;
    ctaCount: number;
    sharedBytes: number;
    bankBytes: 4 | 8;
    unreadable: number; // of its records: in damaged chunks, or in no file any more; the run's warnings say which
    allocations: Allocation[]; // alive at that moment, by address
    shared: Allocation[]; // variables of a CTA's shared memory, by their numbers; where they are not known, none
    sites: { site: number; records: number; accesses: number }[]; // that it executed
    spaces: { space: Space; first: number; last: number; accesses: number }[]; // addresses in use
}

// Empty lists mean no restriction. All parts must hold.
export interface Filter {
    ctas: [number, number][]; // linear, inclusive ranges
    warps: [number, number][];
    sites: number[];
    lines: { source: number; line: number }[];
    kinds: OperationKind[];
    space: Space | null;
    range: { space: Space; first: number; last: number } | null; // a lane touches a byte of it; last inclusive
    partial: boolean; // only records with fewer active lanes than the warp has
}

export interface Records {
    total: number; // that the filter lets through
    // Element i of each column belongs to record i of this page of the answer.
    index: Float64Array;
    cta: Uint32Array;
    warp: Uint16Array;
    site: Uint32Array;
    space: Uint8Array; // 1 global, 3 shared, 5 local
    mask: Uint32Array;
    // 32 a record; of lanes that did not take part, NaN.
    addresses: Float64Array;
    // As raw bytes, `valueBytes` for each of 32 lanes of a record; null: not recorded.
    values: Uint8Array | null;
    valueBytes: number;
    hasValues?: Uint8Array; // 1 of records that have values; absent: all, where there are any
    sectors: Uint16Array; // global and local; 0 otherwise
    idealSectors: Uint16Array;
    wavefronts: Uint16Array; // shared
    idealWavefronts: Uint16Array;
}

export type GroupBy = "line" | "warp" | "cta" | "site" | "allocation" | "operation";
export interface Group {
    key: string; // "source:line", a number, "load", ...; what filterOf(group) needs
    label: string;
    records: number;
    accesses: number;
    bytes: number; // asked for: lanes times width
    sectors: number;
    idealSectors: number;
    wavefronts: number;
    idealWavefronts: number;
}

export interface Density {
    space: Space;
    first: number;
    cellBytes: number; // a power of two or exact
    reads: Float64Array; // lanes that read or wrote a byte of the cell; atomics count in both
    writes: Float64Array;
}

export interface Touch {
    index: number; // of the record
    lane: number;
    address: number;
    cta: number;
    warp: number;
    site: number;
}

// One that accesses some bytes: a site of a launch, or a copy or memset.
export interface HistoryRow {
    launch: number | null;
    copy: number | null;
    name: string | null; // of the kernel, or the kind of copy
    rank: number;
    site: number | null;
    reads: boolean;
    writes: boolean;
    lanes: number; // 0: a copy
    variable: string | null; // that the first byte belongs to at that time
}

export interface Conflict {
    first: number; // a maximal range of bytes that the same warps touch
    last: number;
    warps: number;
    writers: number;
    atomic: boolean; // all writes are atomic
    touches: Touch[]; // some; `touchCount` in all
    touchCount: number;
}

export interface Order {
    // counts[row * columns + column]; rows: address, columns: order of records
    columns: number;
    rows: number;
    reads: Uint32Array;
    writes: Uint32Array;
    firstRecord: number;
    lastRecord: number;
    first: number;
    last: number;
}

export interface FindingRow {
    finding: string;
    kernel: string | null;
    launch: number | null;
    site: number | null;
    source: number | null;
    line: number | null;
    place: string | null;
    variable: string | null;
    operation: string;
    share: number | null; // ceiling of the gain; null: one of correctness
    system: string | null; // what the ceiling is a share of: "global-memory sectors", ...
    evidence: string;
    remedy: string;
    // An instance to look at, where there is one.
    example: { launch: number; cta: number; warp: number; address: number } | null;
}

export interface DiffRow {
    change: "new" | "gone" | "changed" | "same";
    finding: string;
    kernel: string | null;
    place: string | null;
    variable: string | null;
    before: string | null; // evidence
    after: string | null;
    amountBefore: number | null; // the cost beyond the ideal; null of what makes results wrong
    amountAfter: number | null;
    source: number | null; // where it is in this run, if it is
    line: number | null;
}
export interface Diff {
    rows: DiffRow[];
    kernels: {
        kernel: string;
        before: { [field: string]: number } | null;
        after: { [field: string]: number } | null;
    }[];
}

export interface LineRow {
    line: number;
    records: number;
    accesses: number;
    bytes: number;
    sectors: number;
    idealSectors: number;
    wavefronts: number;
    idealWavefronts: number;
    findings: number[]; // indices in the answer of findings()
}

// Every answer may be rejected with an Error whose message says what was wrong (a launch that does
// not exist, a server that has gone). `signal` gives up a question that nobody waits for any more.
export interface Source {
    run(): Promise<RunInfo>;
    // Calls it when an answer was made from other files than those of `run()`.
    onChange?(told: () => void): void;
    timeline(
        from: number,
        to: number,
        bins: number,
        signal?: AbortSignal,
    ): Promise<{ begin: number; end: number; rows: TimelineRow[] }>;
    // Those whose kernel or number matches `search`, a page of them.
    launches(
        search: string,
        from: number,
        count: number,
        signal?: AbortSignal,
        sort?: LaunchSort,
    ): Promise<{ total: number; rows: LaunchRow[] }>;
    // The launch and those before and after it: numbers of launches have gaps, and ranks have theirs apart.
    neighbours(launch: number): Promise<LaunchRow[]>;
    launch(launch: number, signal?: AbortSignal): Promise<LaunchInfo>;
    records(launch: number, filter: Filter, from: number, count: number, signal?: AbortSignal): Promise<Records>;
    // Where record `index` stands among those that the filter lets through; -1: it does not.
    position(launch: number, filter: Filter, index: number, signal?: AbortSignal): Promise<number>;
    groups(
        launch: number,
        filter: Filter,
        by: GroupBy,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Group[] }>;
    density(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        cells: number,
        signal?: AbortSignal,
    ): Promise<Density>;
    touching(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Touch[] }>;
    conflicts(
        launch: number,
        filter: Filter,
        space: Space,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Conflict[] }>;
    order(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        fromRecord: number,
        toRecord: number,
        columns: number,
        rows: number,
        signal?: AbortSignal,
    ): Promise<Order>;
    source(source: number): Promise<string>;
    // Of one launch, or of the whole run.
    lines(source: number, launch: number | null, signal?: AbortSignal): Promise<LineRow[]>;
    findings(launch: number | null, signal?: AbortSignal): Promise<FindingRow[]>;
    // What to do first about the whole run; a page that holds one launch does not know.
    runFindings?(signal?: AbortSignal): Promise<RunFindings>;
    diff(): Promise<Diff>; // with the other run
    other(): Source | null; // the other run itself
    // Who accesses bytes of global memory in the whole run, in order; a page that holds one launch does not know.
    history?(first: number, last: number, signal?: AbortSignal): Promise<{ total: number; rows: HistoryRow[] }>;
    // What passes between launches, copies and the host; a page that holds one launch does not know.
    flow?(signal?: AbortSignal): Promise<import("../flow-data").FlowData>;
    // The data of the report's communication and partition part (data.ts), made at first demand.
    communication(signal?: AbortSignal): Promise<import("../data").Memory>;
}
