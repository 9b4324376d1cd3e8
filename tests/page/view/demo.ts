// A source for tests of the page alone: launches with closed-form accesses, answered by brute force
// over all their records. Launches:
//   0  transpose_naive, 256 x 256 floats in CTAs of 32 x 8: stores lie a row apart
//   1  transpose_tiled, pitch 32: 32-way bank conflicts
//   2  transpose_tiled, pitch 33: none
//   3  weigh_array_of_structs: 8 of 24 bytes are read
//   4  histogram: atomics of all CTAs on 16 counters
//   5  not recorded
//   6  large: 3.2 million records, made as they are asked for
import type { RunFinding, RunFindings } from "../../../web/src/run-findings";
import { bankCost, isActive, sectorCost } from "../../../web/src/view/requests";
import type {
    Allocation,
    Conflict,
    Density,
    Diff,
    Filter,
    FindingRow,
    Group,
    GroupBy,
    LaunchInfo,
    LaunchRow,
    LaunchSort,
    LineRow,
    Order,
    Records,
    RunInfo,
    Site,
    Source,
    Space,
    TimelineRow,
    Touch,
} from "../../../web/src/view/source";

interface Rec {
    cta: number;
    warp: number;
    site: number;
    space: Space;
    mask: number;
    at: (lane: number) => number;
    value?: (lane: number) => number;
}
interface Made {
    row: LaunchRow;
    name: string;
    count: number;
    record: (index: number) => Rec;
    allocations: Allocation[];
    sharedBytes: number;
    large?: boolean;
}

const CODE: Record<Space, number> = { global: 1, shared: 3, local: 5 };
const EDGE = 256,
    ROW_BYTES = EDGE * 4,
    IN = 0x7f0000000000,
    OUT = 0x7f0000100000,
    STRUCTS = 0x7f0000200000,
    WEIGHTS = 0x7f0000400000,
    COUNTS = 0x7f0000500000;
const PIXELS = 0x7f0000600000,
    LARGE = 0x7f1000000000;

export const SOURCE = [
    "// A matrix transposed in two ways.",
    "",
    "template <int PITCH>",
    "__global__ void transpose_tiled(const float *in, float *out, int n)",
    "{",
    "    __shared__ float tile[32][PITCH];",
    "    const int x = blockIdx.x * 32 + threadIdx.x;",
    "    for (int r = threadIdx.y; r < 32; r += 8)",
    "        tile[r][threadIdx.x] = in[(blockIdx.y * 32 + r) * n + x];",
    "    __syncthreads();",
    "    for (int r = threadIdx.y; r < 32; r += 8)",
    "        out[(blockIdx.x * 32 + r) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][r];",
    "}",
    "",
    "__global__ void transpose_naive(const float *in, float *out, int n)",
    "{",
    "    const int x = blockIdx.x * 32 + threadIdx.x;",
    "    for (int r = threadIdx.y; r < 32; r += 8)",
    "        out[x * n + blockIdx.y * 32 + r] = in[(blockIdx.y * 32 + r) * n + x];",
    "}",
    "",
    "struct Particle { double mass; float x, y, z, charge; };",
    "__global__ void weigh_array_of_structs(const Particle *particles, double *out)",
    "{",
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "    out[i] = 2.0 * particles[i].mass;",
    "}",
    "",
    "__global__ void histogram(const unsigned char *pixels, unsigned *counts)",
    "{",
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "    atomicAdd(&counts[pixels[i] % 16], 1);",
    "}",
    "",
].join("\n");

const site = (
    id: number,
    line: number,
    operation: string,
    kind: Site["kind"],
    space: Site["space"],
    width: number,
    type: string,
    variable: string,
): Site => ({
    site: id,
    function: "kernel",
    operation,
    kind,
    space,
    width,
    source: 0,
    line,
    column: 9,
    inlinedAt: null,
    type,
    variable,
});
const SITES = [
    site(0, 19, "load", "load", "global", 4, "float", "in"),
    site(1, 19, "store", "store", "global", 4, "float", "out"),
    site(2, 9, "load", "load", "global", 4, "float", "in"),
    site(3, 9, "store", "store", "shared", 4, "float", "tile"),
    site(4, 12, "load", "load", "shared", 4, "float", "tile"),
    site(5, 12, "store", "store", "global", 4, "float", "out"),
    site(6, 26, "load", "load", "global", 8, "double", "particles"),
    site(7, 26, "store", "store", "global", 8, "double", "out"),
    site(8, 32, "load", "load", "global", 1, "unsigned char", "pixels"),
    site(9, 32, "atomic add", "atomic", "global", 4, "unsigned int", "counts"),
    site(10, 19, "load", "load", "global", 4, "float", "in"), // copies of site 0, which no launch executes
    site(11, 19, "load", "load", "global", 4, "float", "in"),
];
const allocation = (
    id: number,
    address: number,
    size: number,
    declaration: string,
    type: string,
    elementBytes: number,
    line: number,
): Allocation => ({
    allocation: id,
    address,
    size,
    kind: "device",
    variable: declaration.split(/[ *]+/).pop()!,
    declaration,
    type,
    elementBytes,
    path: "/src/demo.cu",
    line,
    touched: true,
});
const ALLOCATIONS = [
    allocation(0, IN, EDGE * ROW_BYTES, "float *d_in", "float", 4, 40),
    allocation(1, OUT, EDGE * ROW_BYTES, "float *d_out", "float", 4, 41),
    allocation(2, STRUCTS, 4096 * 24, "Particle *d_structs", "Particle", 24, 50),
    allocation(3, WEIGHTS, 4096 * 8, "double *d_weights", "double", 8, 51),
    allocation(4, COUNTS, 64, "unsigned *d_counts", "unsigned int", 4, 60),
    allocation(5, PIXELS, 8192, "unsigned char *d_pixels", "unsigned char", 1, 61),
    allocation(6, LARGE, 3_200_000 * 128, "float *d_large", "float", 4, 70),
];
const FULL = 0xffffffff;

function launchRow(
    launch: number,
    grid: [number, number, number],
    block: [number, number, number],
    records: number,
    accesses: number,
): LaunchRow {
    return {
        launch,
        kernel: launch,
        rank: 0,
        device: 0,
        stream: launch % 2,
        ordinal: launch,
        grid,
        block,
        start: 1000 + launch * 5000,
        end: 1000 + launch * 5000 + 3000,
        records,
        accesses,
        recorded: "all",
    };
}
const using = (...ids: number[]) =>
    ALLOCATIONS.filter((a) => a.allocation < 6 || ids.includes(6)).map((a) => ({
        ...a,
        touched: ids.includes(a.allocation),
    }));

// Records of a CTA of 8 warps follow each other: step by step, warp by warp.
const place = (index: number, per: number) => ({
    cta: Math.floor(index / (8 * per)),
    warp: Math.floor(index / per) % 8,
    step: index % per,
});

function naive(index: number): Rec {
    const { cta, warp, step } = place(index, 8),
        x0 = (cta % 8) * 32,
        y = Math.floor(cta / 8) * 32 + warp + 8 * Math.floor(step / 2);
    return step % 2 === 0
        ? {
              cta,
              warp,
              site: 0,
              space: "global",
              mask: FULL,
              at: (l) => IN + y * ROW_BYTES + 4 * (x0 + l),
              value: (l) => y * EDGE + x0 + l,
          }
        : {
              cta,
              warp,
              site: 1,
              space: "global",
              mask: FULL,
              at: (l) => OUT + (x0 + l) * ROW_BYTES + 4 * y,
              value: (l) => y * EDGE + x0 + l,
          };
}
function tiled(pitch: number): (index: number) => Rec {
    return (index) => {
        const { cta, warp, step } = place(index, 16),
            bx = cta % 8,
            by = Math.floor(cta / 8),
            r = warp + 8 * Math.floor((step % 8) / 2),
            load = step % 2 === 0;
        if (step < 8)
            return load
                ? {
                      cta,
                      warp,
                      site: 2,
                      space: "global",
                      mask: FULL,
                      at: (l) => IN + (by * 32 + r) * ROW_BYTES + 4 * (bx * 32 + l),
                      value: (l) => (by * 32 + r) * EDGE + bx * 32 + l,
                  }
                : {
                      cta,
                      warp,
                      site: 3,
                      space: "shared",
                      mask: FULL,
                      at: (l) => 4 * (r * pitch + l),
                      value: (l) => (by * 32 + r) * EDGE + bx * 32 + l,
                  };
        return load
            ? {
                  cta,
                  warp,
                  site: 4,
                  space: "shared",
                  mask: FULL,
                  at: (l) => 4 * (l * pitch + r),
                  value: (l) => (by * 32 + l) * EDGE + bx * 32 + r,
              }
            : {
                  cta,
                  warp,
                  site: 5,
                  space: "global",
                  mask: FULL,
                  at: (l) => OUT + (bx * 32 + r) * ROW_BYTES + 4 * (by * 32 + l),
                  value: (l) => (by * 32 + l) * EDGE + bx * 32 + r,
              };
    };
}
function structs(index: number): Rec {
    const { cta, warp, step } = place(index, 2),
        i = (l: number) => cta * 256 + warp * 32 + l;
    return step === 0
        ? { cta, warp, site: 6, space: "global", mask: FULL, at: (l) => STRUCTS + 24 * i(l), value: (l) => i(l) % 1000 }
        : {
              cta,
              warp,
              site: 7,
              space: "global",
              mask: FULL,
              at: (l) => WEIGHTS + 8 * i(l),
              value: (l) => 2 * (i(l) % 1000),
          };
}
// The last warp of each CTA has half of its lanes active.
function histogram(index: number): Rec {
    const { cta, warp, step } = place(index, 2),
        mask = warp === 7 ? 0xffff : FULL;
    return step === 0
        ? {
              cta,
              warp,
              site: 8,
              space: "global",
              mask,
              at: (l) => PIXELS + cta * 256 + warp * 32 + l,
              value: (l) => (l * 7 + warp) % 256,
          }
        : { cta, warp, site: 9, space: "global", mask, at: (l) => COUNTS + 4 * ((l * 7 + warp) % 16) };
}
const large = (index: number): Rec => ({
    cta: Math.floor(index / 8),
    warp: index % 8,
    site: index % 2,
    space: "global",
    mask: FULL,
    at: (l) => LARGE + 128 * index + 4 * l,
});

// The tile, as large as the shared memory of a launch, if it has any.
const tileOf = (size: number): Allocation[] =>
    !size
        ? []
        : [
              {
                  allocation: 0,
                  address: 0,
                  size,
                  kind: "shared",
                  variable: "tile",
                  declaration: `float tile[${size / 4}]`,
                  type: "float",
                  elementBytes: 4,
                  path: "/src/demo.cu",
                  line: 6,
                  touched: true,
              },
          ];

const MADE: Made[] = [
    {
        row: launchRow(0, [8, 8, 1], [32, 8, 1], 4096, 131072),
        name: "transpose_naive(float const*, float*, int)",
        count: 4096,
        record: naive,
        allocations: using(0, 1),
        sharedBytes: 0,
    },
    {
        row: launchRow(1, [8, 8, 1], [32, 8, 1], 8192, 262144),
        name: "void transpose_tiled<32>(float const*, float*, int)",
        count: 8192,
        record: tiled(32),
        allocations: using(0, 1),
        sharedBytes: 4096,
    },
    {
        row: launchRow(2, [8, 8, 1], [32, 8, 1], 8192, 262144),
        name: "void transpose_tiled<33>(float const*, float*, int)",
        count: 8192,
        record: tiled(33),
        allocations: using(0, 1),
        sharedBytes: 4224,
    },
    {
        row: launchRow(3, [16, 1, 1], [256, 1, 1], 256, 8192),
        name: "weigh_array_of_structs(Particle const*, double*)",
        count: 256,
        record: structs,
        allocations: using(2, 3),
        sharedBytes: 0,
    },
    {
        row: launchRow(4, [32, 1, 1], [256, 1, 1], 512, 15360),
        name: "histogram(unsigned char const*, unsigned int*)",
        count: 512,
        record: histogram,
        allocations: using(4, 5),
        sharedBytes: 0,
    },
    {
        row: { ...launchRow(5, [1, 1, 1], [32, 1, 1], 0, 0), recorded: "none" },
        name: "unseen()",
        count: 0,
        record: naive,
        allocations: using(),
        sharedBytes: 0,
    },
    {
        row: launchRow(6, [400000, 1, 1], [256, 1, 1], 3_200_000, 102_400_000),
        name: "large(float*)",
        count: 3_200_000,
        record: large,
        allocations: using(6),
        sharedBytes: 0,
        large: true,
    },
];

function passes(rec: Rec, f: Filter): boolean {
    const s = SITES[rec.site]!,
        within = (ranges: [number, number][], n: number) => !ranges.length || ranges.some(([a, b]) => n >= a && n <= b);
    if (!within(f.ctas, rec.cta) || !within(f.warps, rec.warp)) return false;
    if (f.sites.length && !f.sites.includes(rec.site)) return false;
    if (f.lines.length && !f.lines.some((l) => l.source === s.source && l.line === s.line)) return false;
    if (f.kinds.length && !f.kinds.includes(s.kind)) return false;
    if (f.space && f.space !== rec.space) return false;
    if (f.partial && rec.mask === FULL) return false;
    if (f.range) {
        if (f.range.space !== rec.space) return false;
        for (let l = 0; l < 32; l++)
            if (isActive(rec.mask, l) && rec.at(l) <= f.range.last && rec.at(l) + s.width - 1 >= f.range.first)
                return true;
        return false;
    }
    return true;
}

export class DemoSource implements Source {
    asked: string[] = []; // for tests: what was asked for, and what was given up
    aborted = 0;
    private kept = new Map<string, ArrayLike<number>>();
    constructor(
        public delay = 0,
        private options: { second?: boolean; values?: boolean } = {},
    ) {}

    private async answer<T>(what: string, signal: AbortSignal | undefined, make: () => T): Promise<T> {
        this.asked.push(what);
        await new Promise<void>((done, fail) => {
            const giveUp = () => {
                clearTimeout(timer);
                this.aborted++;
                fail(new DOMException("given up", "AbortError"));
            };
            const timer = setTimeout(() => (signal?.removeEventListener("abort", giveUp), done()), this.delay);
            if (signal?.aborted) giveUp();
            else signal?.addEventListener("abort", giveUp, { once: true });
        });
        return make();
    }
    private made(launch: number): Made {
        const made = MADE[launch];
        if (!made) throw new Error(`the run has no launch ${launch}`);
        return made;
    }
    private matching(made: Made, filter: Filter): ArrayLike<number> {
        const key = `${made.row.launch}|${JSON.stringify(filter)}`,
            have = this.kept.get(key);
        if (have) return have;
        const list: number[] = [],
            step = made.large ? 997 : 1;
        for (let i = 0; i < made.count; i += step) if (passes(made.record(i), filter)) list.push(i);
        this.kept.set(key, list);
        return list;
    }
    private each(made: Made, filter: Filter, see: (index: number, rec: Rec, site: Site) => void): void {
        const list = this.matching(made, filter);
        for (let i = 0; i < list.length; i++) {
            const rec = made.record(list[i]!);
            see(list[i]!, rec, SITES[rec.site]!);
        }
    }
    private cost(rec: Rec, s: Site) {
        const at = Array.from({ length: 32 }, (_, l) => rec.at(l));
        if (rec.space === "shared") {
            const c = bankCost(at, rec.mask, s.width, 4, s.operation === "load");
            return { sectors: 0, idealSectors: 0, wavefronts: c.wavefronts, idealWavefronts: c.ideal };
        }
        const c = sectorCost(at, rec.mask, s.width, rec.space);
        return { sectors: c.sectors, idealSectors: c.ideal, wavefronts: 0, idealWavefronts: 0 };
    }

    run(): Promise<RunInfo> {
        return this.answer("run", undefined, () => ({
            path: this.options.second ? "demo-after" : "demo-run",
            version: "0.0",
            program: "/bin/demo",
            arguments: "demo 256",
            host: "here",
            recorder: "cpu",
            devices: [{ rank: 0, device: 0, name: "CPU", sms: 2 }],
            streams: [
                { stream: 0, rank: 0, device: 0, kind: "legacy default", name: "the default stream" },
                { stream: 1, rank: 0, device: 0, kind: "blocking", name: "stream 1" },
            ],
            kernels: MADE.map((m, i) => ({
                kernel: i,
                name: m.name,
                short: m.name.replace(/^void |\(.*$/g, ""),
                source: 0,
                line: 1,
            })),
            sources: [{ source: 0, path: "/src/demo.cu", hasText: true }],
            sites: SITES,
            launchCount: MADE.length,
            recordedLaunchCount: 6,
            accessCount: MADE.reduce((n, m) => n + m.row.accesses, 0),
            hasValues: this.options.values !== false,
            warnings: ["3 accesses were dropped by the recorder."],
            sampled: null,
            hasCommunication: false,
            hasTime: false,
            otherRun: this.options.second ? null : "demo-after",
        }));
    }
    timeline(from: number, to: number, _bins: number, signal?: AbortSignal) {
        return this.answer("timeline", signal, () => {
            const rows: TimelineRow[] = [0, 1].map((stream) => ({
                rank: 0,
                device: 0,
                stream,
                bins: null,
                items: [
                    ...MADE.filter((m) => m.row.stream === stream && m.row.end > from && m.row.start < to).map((m) => ({
                        kind: "launch" as const,
                        id: m.row.launch,
                        name: m.name,
                        start: m.row.start,
                        end: m.row.end,
                        recorded: m.row.recorded !== "none",
                    })),
                    ...(stream === 0
                        ? [{ kind: "copy" as const, id: 0, name: "host to device", start: 0, end: 700, recorded: true }]
                        : []),
                ],
            }));
            return { begin: 0, end: 36000, rows };
        });
    }
    launches(search: string, from: number, count: number, signal?: AbortSignal, sort: LaunchSort = "launch") {
        return this.answer(`launches ${search} ${sort}`, signal, () => {
            const rows = MADE.filter(
                (m) => m.name.toLowerCase().includes(search.toLowerCase()) || String(m.row.launch) === search,
            ).map((m) => m.row);
            const value = (row: LaunchRow) => (sort === "time" ? row.end - row.start : row.accesses);
            if (sort !== "launch") rows.sort((a, b) => value(b) - value(a));
            return { total: rows.length, rows: rows.slice(from, from + count) };
        });
    }
    neighbours(launch: number): Promise<LaunchRow[]> {
        return this.answer(`neighbours ${launch}`, undefined, () =>
            MADE.slice(Math.max(0, launch - 1), launch + 2).map((m) => m.row),
        );
    }
    launch(launch: number, signal?: AbortSignal): Promise<LaunchInfo> {
        return this.answer(`launch ${launch}`, signal, () => {
            const made = this.made(launch),
                sites = new Map<number, { site: number; records: number; accesses: number }>(),
                spaces = new Map<Space, { space: Space; first: number; last: number; accesses: number }>();
            this.each(
                made,
                { ctas: [], warps: [], sites: [], lines: [], kinds: [], space: null, range: null, partial: false },
                (_, rec, s) => {
                    const lanes = Array.from({ length: 32 }, (_, l) => l).filter((l) => isActive(rec.mask, l));
                    const entry = sites.get(rec.site) ?? { site: rec.site, records: 0, accesses: 0 };
                    sites.set(rec.site, {
                        site: rec.site,
                        records: entry.records + 1,
                        accesses: entry.accesses + lanes.length,
                    });
                    const use = spaces.get(rec.space) ?? { space: rec.space, first: Infinity, last: 0, accesses: 0 };
                    for (const l of lanes) {
                        use.first = Math.min(use.first, rec.at(l));
                        use.last = Math.max(use.last, rec.at(l) + s.width - 1);
                    }
                    use.accesses += lanes.length;
                    spaces.set(rec.space, use);
                },
            );
            const { row } = made;
            return {
                ...row,
                name: made.name,
                warpsPerCta: 8,
                ctaCount: row.grid[0] * row.grid[1] * row.grid[2],
                sharedBytes: made.sharedBytes,
                bankBytes: 4,
                unreadable: 0,
                allocations: made.allocations,
                shared: tileOf(made.sharedBytes),
                sites: [...sites.values()],
                spaces: [...spaces.values()],
            };
        });
    }
    private page(made: Made, indices: ArrayLike<number>, total: number): Records {
        const n = indices.length,
            values = this.options.values === false ? null : new Uint8Array(n * 32 * 8);
        const out: Records = {
            total,
            index: new Float64Array(n),
            cta: new Uint32Array(n),
            warp: new Uint16Array(n),
            site: new Uint32Array(n),
            space: new Uint8Array(n),
            mask: new Uint32Array(n),
            addresses: new Float64Array(32 * n).fill(NaN),
            values,
            valueBytes: values ? 8 : 0,
            sectors: new Uint16Array(n),
            idealSectors: new Uint16Array(n),
            wavefronts: new Uint16Array(n),
            idealWavefronts: new Uint16Array(n),
        };
        const view = values && new DataView(values.buffer);
        for (let i = 0; i < n; i++) {
            const rec = made.record(indices[i]!),
                s = SITES[rec.site]!,
                cost = this.cost(rec, s);
            out.index[i] = indices[i]!;
            out.cta[i] = rec.cta;
            out.warp[i] = rec.warp;
            out.site[i] = rec.site;
            out.space[i] = CODE[rec.space];
            out.mask[i] = rec.mask;
            out.sectors[i] = cost.sectors;
            out.idealSectors[i] = cost.idealSectors;
            out.wavefronts[i] = cost.wavefronts;
            out.idealWavefronts[i] = cost.idealWavefronts;
            for (let l = 0; l < 32; l++) {
                if (!isActive(rec.mask, l)) continue;
                out.addresses[32 * i + l] = rec.at(l);
                const value = rec.value?.(l) ?? 1,
                    at = (32 * i + l) * 8;
                if (s.type === "float") view?.setFloat32(at, value, true);
                else if (s.type === "double") view?.setFloat64(at, value, true);
                else view?.setUint32(at, value, true);
            }
        }
        return out;
    }
    records(launch: number, filter: Filter, from: number, count: number, signal?: AbortSignal): Promise<Records> {
        return this.answer(`records ${launch} ${from} ${count}`, signal, () => {
            const made = this.made(launch),
                none =
                    JSON.stringify(filter) ===
                    JSON.stringify({
                        ctas: [],
                        warps: [],
                        sites: [],
                        lines: [],
                        kinds: [],
                        space: null,
                        range: null,
                        partial: false,
                    });
            if (made.large && none)
                return this.page(
                    made,
                    Array.from({ length: Math.max(0, Math.min(count, made.count - from)) }, (_, i) => from + i),
                    made.count,
                );
            const list = this.matching(made, filter);
            return this.page(made, Array.prototype.slice.call(list, from, from + count), list.length);
        });
    }
    position(launch: number, filter: Filter, index: number, signal?: AbortSignal): Promise<number> {
        return this.answer("position", signal, () => {
            const made = this.made(launch);
            if (made.large) return index < made.count ? index : -1;
            return Array.prototype.indexOf.call(this.matching(made, filter), index);
        });
    }
    groups(
        launch: number,
        filter: Filter,
        by: GroupBy,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Group[] }> {
        return this.answer(`groups ${by}`, signal, () => {
            const made = this.made(launch),
                groups = new Map<string, Group>();
            this.each(made, filter, (_, rec, s) => {
                const own = made.allocations.find(
                    (a) => rec.space === "global" && rec.at(0) >= a.address && rec.at(0) < a.address + a.size,
                );
                const key = {
                    line: `${s.source}:${s.line}`,
                    warp: `${rec.warp}`,
                    cta: `${rec.cta}`,
                    site: `${rec.site}`,
                    operation: s.operation,
                    allocation: own ? `${own.allocation}` : "none",
                }[by];
                const g = groups.get(key) ?? {
                    key,
                    label: own && by === "allocation" ? own.variable! : by === "allocation" ? "shared memory" : key,
                    records: 0,
                    accesses: 0,
                    bytes: 0,
                    sectors: 0,
                    idealSectors: 0,
                    wavefronts: 0,
                    idealWavefronts: 0,
                };
                const lanes = Array.from({ length: 32 }, (_, l) => l).filter((l) => isActive(rec.mask, l)).length,
                    cost = this.cost(rec, s);
                g.records++;
                g.accesses += lanes;
                g.bytes += lanes * s.width;
                for (const field of ["sectors", "idealSectors", "wavefronts", "idealWavefronts"] as const)
                    g[field] += cost[field];
                groups.set(key, g);
            });
            const rows = [...groups.values()].sort((a, b) => b.bytes - a.bytes);
            return { total: rows.length, rows: rows.slice(0, count) };
        });
    }
    density(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        cells: number,
        signal?: AbortSignal,
    ): Promise<Density> {
        return this.answer(`density ${cells}`, signal, () => {
            const cellBytes = Math.ceil((last - first + 1) / cells),
                out: Density = {
                    space,
                    first,
                    cellBytes,
                    reads: new Float64Array(cells),
                    writes: new Float64Array(cells),
                };
            this.each(this.made(launch), filter, (_, rec, s) => {
                if (rec.space !== space) return;
                for (let l = 0; l < 32; l++) {
                    if (!isActive(rec.mask, l)) continue;
                    const a = Math.floor((Math.max(rec.at(l), first) - first) / cellBytes),
                        b = Math.floor((Math.min(rec.at(l) + s.width - 1, last) - first) / cellBytes);
                    for (let c = a; c <= b && c < cells; c++) {
                        if (s.kind !== "store") out.reads[c]!++;
                        if (s.kind !== "load") out.writes[c]!++;
                    }
                }
            });
            return out;
        });
    }
    private touches(made: Made, filter: Filter, space: Space, first: number, last: number): Touch[] {
        const rows: Touch[] = [];
        this.each(made, filter, (index, rec, s) => {
            if (rec.space !== space) return;
            for (let l = 0; l < 32; l++)
                if (isActive(rec.mask, l) && rec.at(l) <= last && rec.at(l) + s.width - 1 >= first)
                    rows.push({ index, lane: l, address: rec.at(l), cta: rec.cta, warp: rec.warp, site: rec.site });
        });
        return rows;
    }
    touching(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        count: number,
        signal?: AbortSignal,
    ) {
        return this.answer("touching", signal, () => {
            const rows = this.touches(this.made(launch), filter, space, first, last);
            return { total: rows.length, rows: rows.slice(0, count) };
        });
    }
    conflicts(
        launch: number,
        filter: Filter,
        space: Space,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Conflict[] }> {
        return this.answer("conflicts", signal, () => {
            // Words of four bytes, each a range of its own; shared memory is compared in CTA 0 alone.
            const words = new Map<number, Touch[]>();
            this.each(this.made(launch), filter, (index, rec) => {
                if (rec.space !== space || (space === "shared" && rec.cta !== 0)) return;
                for (let l = 0; l < 32; l++) {
                    if (!isActive(rec.mask, l)) continue;
                    const list = words.get(rec.at(l)) ?? [];
                    list.push({ index, lane: l, address: rec.at(l), cta: rec.cta, warp: rec.warp, site: rec.site });
                    words.set(rec.at(l), list);
                }
            });
            const rows: Conflict[] = [];
            for (const [address, touches] of words) {
                const warps = new Set(touches.map((t) => t.cta * 8 + t.warp)),
                    writes = touches.filter((t) => SITES[t.site]!.kind !== "load");
                if (warps.size < 2) continue;
                rows.push({
                    first: address,
                    last: address + 3,
                    warps: warps.size,
                    writers: new Set(writes.map((t) => t.cta * 8 + t.warp)).size,
                    atomic: writes.length > 0 && writes.every((t) => SITES[t.site]!.kind === "atomic"),
                    touches: touches.slice(0, 16),
                    touchCount: touches.length,
                });
            }
            rows.sort((a, b) => b.warps - a.warps || a.first - b.first);
            return { total: rows.length, rows: rows.slice(0, count) };
        });
    }
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
    ): Promise<Order> {
        return this.answer(`order ${fromRecord} ${toRecord}`, signal, () => {
            const out: Order = {
                columns,
                rows,
                reads: new Uint32Array(columns * rows),
                writes: new Uint32Array(columns * rows),
                firstRecord: fromRecord,
                lastRecord: toRecord,
                first,
                last,
            };
            this.each(this.made(launch), filter, (index, rec, s) => {
                if (rec.space !== space || index < fromRecord || index > toRecord) return;
                const column = Math.floor(((index - fromRecord) / (toRecord - fromRecord + 1)) * columns);
                for (let l = 0; l < 32; l++) {
                    if (!isActive(rec.mask, l) || rec.at(l) < first || rec.at(l) > last) continue;
                    const row = Math.floor(((rec.at(l) - first) / (last - first + 1)) * rows);
                    (s.kind === "load" ? out.reads : out.writes)[row * columns + column]!++;
                }
            });
            return out;
        });
    }
    source(): Promise<string> {
        return this.answer("source", undefined, () => SOURCE);
    }
    async lines(_source: number, launch: number | null, signal?: AbortSignal): Promise<LineRow[]> {
        const rows = new Map<number, LineRow>(),
            findings = await this.findings(launch);
        for (const made of launch === null ? MADE.filter((m) => m.count && !m.large) : [this.made(launch)]) {
            const { rows: groups } = await this.groups(
                made.row.launch,
                { ctas: [], warps: [], sites: [], lines: [], kinds: [], space: null, range: null, partial: false },
                "line",
                1000,
                signal,
            );
            for (const g of groups) {
                const line = Number(g.key.split(":")[1]),
                    row = rows.get(line) ?? {
                        line,
                        records: 0,
                        accesses: 0,
                        bytes: 0,
                        sectors: 0,
                        idealSectors: 0,
                        wavefronts: 0,
                        idealWavefronts: 0,
                        findings: findings.flatMap((f, i) => (f.line === line ? [i] : [])),
                    };
                for (const field of [
                    "records",
                    "accesses",
                    "bytes",
                    "sectors",
                    "idealSectors",
                    "wavefronts",
                    "idealWavefronts",
                ] as const)
                    row[field] += g[field];
                rows.set(line, row);
            }
        }
        return [...rows.values()];
    }
    // Those of accesses with half of their share as the gain; before them nothing of time, after them a small one.
    async runFindings(signal?: AbortSignal): Promise<RunFindings> {
        const rows = await this.findings(null, signal);
        const ranked = rows.map((row): RunFinding => ({
            ...row,
            order: row.share === null ? "fault" : "change",
            gain: row.share === null ? null : row.share / 2,
            about: row.share === null ? "fault" : "access",
            kernelShort: row.kernel,
            state: "exact",
            stateText: "every access of 1 launch of the kernel was recorded",
        }));
        const time = (activity: string, gain: number, order: RunFinding["order"] = "change"): RunFinding => ({
            order,
            gain,
            about: "time",
            finding: "time on the host",
            activity,
            activityShort: activity,
            kernel: null,
            kernelShort: null,
            place: null,
            launch: null,
            evidence: `${100 * gain} ms of the critical path of 100 ms`,
            remedy: "make it faster, or run it while the device works",
            state: "measured",
            stateText: "times of this run",
            from: 10e6,
            to: 20e6,
        });
        const changes = [...ranked.filter((row) => row.gain !== null), time("load_input", 0.4), time("log", 0.004)];
        return {
            basis: "the run's time",
            duration: 100e6,
            rows: [
                ...ranked.filter((row) => row.gain === null),
                ...changes.sort((a, b) => b.gain! - a.gain!),
                time("transpose_naive", 0.2, "elsewhere"),
            ],
            left: 6,
            notes: ["2 findings are below 1% of a kernel's memory traffic, together 0.1% of the run's memory cost."],
            missing: [],
        };
    }
    findings(launch: number | null, signal?: AbortSignal): Promise<FindingRow[]> {
        const row = (
            finding: string,
            of: number,
            s: number,
            share: number | null,
            evidence: string,
            remedy: string,
            cta: number,
            warp: number,
            address: number,
        ): FindingRow => ({
            finding,
            kernel: MADE[of]!.name,
            launch: of,
            site: s,
            source: 0,
            line: SITES[s]!.line,
            place: `demo.cu:${SITES[s]!.line}`,
            variable: SITES[s]!.variable,
            operation: SITES[s]!.operation,
            share,
            system: share === null ? null : "global-memory sectors",
            evidence,
            remedy,
            example: { launch: of, cta, warp, address },
        });
        return this.answer("findings", signal, () =>
            [
                row(
                    "bank conflicts",
                    1,
                    4,
                    0.84,
                    "32 wavefronts per request where 1 would do, over 2,048 requests",
                    "Pad the rows of 'tile' by one element, or swizzle its columns.",
                    0,
                    1,
                    4,
                ),
                row(
                    "strided access",
                    0,
                    1,
                    0.78,
                    "32 sectors per request where 4 would do: lanes lie 1,024 B apart",
                    "Go through a tile in shared memory, so that lanes of a warp write side by side.",
                    0,
                    2,
                    OUT + 8,
                ),
                row(
                    "array of structs",
                    3,
                    6,
                    0.43,
                    "8 of every 24 bytes are used: one field of a struct",
                    "Keep the field in an array of its own.",
                    1,
                    0,
                    STRUCTS + 24 * 256,
                ),
                row(
                    "atomics on one address",
                    4,
                    9,
                    null,
                    "2 lanes a request wait for another at the same counter",
                    "Count in shared memory first, and add each CTA's sums at its end.",
                    0,
                    0,
                    COUNTS,
                ),
            ].filter((f) => launch === null || f.launch === launch),
        );
    }
    diff(): Promise<Diff> {
        return this.answer("diff", undefined, () => ({
            rows: [
                {
                    change: "gone",
                    finding: "bank conflicts",
                    kernel: MADE[1]!.name,
                    place: "demo.cu:12",
                    variable: "tile",
                    before: "32 wavefronts per request where 1 would do",
                    after: null,
                    amountBefore: 63488,
                    amountAfter: null,
                    source: null,
                    line: null,
                },
                {
                    change: "changed",
                    finding: "strided access",
                    kernel: MADE[0]!.name,
                    place: "demo.cu:19",
                    variable: "out",
                    before: "32 sectors per request where 4 would do",
                    after: "8 sectors per request where 4 would do",
                    amountBefore: 14336,
                    amountAfter: 2048,
                    source: 0,
                    line: 19,
                },
                {
                    change: "new",
                    finding: "misaligned access",
                    kernel: MADE[2]!.name,
                    place: "demo.cu:9",
                    variable: "in",
                    before: null,
                    after: "5 sectors per request where 4 would do",
                    amountBefore: null,
                    amountAfter: 1024,
                    source: 0,
                    line: 9,
                },
                {
                    change: "same",
                    finding: "array of structs",
                    kernel: MADE[3]!.name,
                    place: "demo.cu:26",
                    variable: "particles",
                    before: "8 of every 24 bytes are used",
                    after: "8 of every 24 bytes are used",
                    amountBefore: 512,
                    amountAfter: 512,
                    source: 0,
                    line: 26,
                },
            ],
            kernels: [
                {
                    kernel: MADE[1]!.name,
                    before: { launches: 1, cost: 71680, wavefronts: 67584, sectors: 16384 },
                    after: { launches: 1, cost: 8192, wavefronts: 4096, sectors: 16384 },
                },
            ],
        }));
    }
    private another: DemoSource | null = null;
    other(): Source | null {
        return this.options.second
            ? null
            : (this.another ??= new DemoSource(this.delay, { ...this.options, second: true }));
    }
    communication(): Promise<never> {
        return Promise.reject(new Error("the demo has none"));
    }
}
