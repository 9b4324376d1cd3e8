// What ctascope writes into the page (src/report/page-data.c). Volumes are bytes; *unique* counts a
// byte once per block and launch.
import type { Figure } from "./figure";
import type { FlowData } from "./flow-data";
import type { PathData } from "./path";
import type { RunFindings } from "./run-findings";
import type { TimelineData } from "./timeline-frame";

export interface Counts {
    [field: string]: number | string | null;
}

export interface Pair {
    writer: string;
    reader: string;
    transfers: number;
    bytes: number;
    access_bytes: number;
}

// Of a run with accesses.
export interface Memory {
    paper_model: boolean;
    soundness: {
        lower_bound: boolean;
        unrecorded_launches: number;
        dropped_accesses: number;
        incomplete_files: number;
        missing: string[];
        skipped_instructions: number;
        unseen_allocations: number;
        unordered_transfers: number;
    };
    totals: Counts;
    kernels: Counts[];
    kernel_pairs: Pair[];
    kernel_pairs_left_out: number;
    partition_answer: string | null; // lines
    figures: Figure[];
}

// One of several runs that a page compares.
export interface RunRow {
    name: string;
    path: string;
    program: string;
    launches: number;
    ctas: number;
    read_bytes: number;
    written_bytes: number;
    received_bytes: number;
    communicated_fraction: number | null;
}

export interface Data extends Partial<Memory> {
    format: number;
    run: {
        path: string;
        version: string;
        created: string | null;
        program: string | null;
        arguments: string | null;
        host: string | null;
        recorder: string | null;
        ranks: number;
        device: string | null;
    };
    kernel_names?: { name: string; short: string }[];
    run_findings?: RunFindings;
    flow?: FlowData;
    runs?: RunRow[]; // with `figures` of all of them
    path?: PathData;
    timeline?: TimelineData;
}

export function number(counts: Counts, field: string): number {
    const value = counts[field];
    return typeof value === "number" ? value : 0;
}
