// What ctascope writes into the page (src/report/page-data.c). Volumes are bytes; *unique* counts a
// byte once per block and launch.
export interface Counts {
    [field: string]: number | string | null;
}

export interface Launch {
    launch: number;
    superstep: number;
    ordinal: number;
    kernel: string;
    ctas: number;
    counted: boolean;
    read_bytes: number;
    written_bytes: number;
    received_bytes: number;
    communicated_out_bytes: number;
    in_mean: number;
    in_deviation: number;
    out_mean: number;
    out_deviation: number;
}

export interface Pair {
    writer: string;
    reader: string;
    transfers: number;
    bytes: number;
    access_bytes: number;
}

export interface Data {
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
    paper_model: boolean;
    soundness: {
        lower_bound: boolean;
        unrecorded_launches: number;
        dropped_accesses: number;
        incomplete_files: number;
        skipped_instructions: number;
        unseen_allocations: number;
        unordered_transfers: number;
    };
    totals: Counts;
    kernels: Counts[];
    launches: Launch[];
    launches_left_out: number;
    kernel_pairs: Pair[];
    kernel_pairs_left_out: number;
    transfer_sizes: [number, number][];
    in_degrees: [number, number][];
    out_degrees: [number, number][];
    density: {
        bins: number;
        bin_ctas: number;
        cta_count: number;
        cells: [number, number, number, number][];
    };
}

export function number(counts: Counts, field: string): number {
    const value = counts[field];
    return typeof value === "number" ? value : 0;
}
