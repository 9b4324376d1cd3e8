// Answers from what `ctascope report --accesses` has put into the page: one launch's records, and
// what the server would say of the rest (docs/view-protocol.md). Every answer is made here as the
// server makes it (src/view/selection/); tests compare the two.
import type { Memory } from "../data";
import { numbersOf } from "../numbers";
import { decodeColumns } from "./columns";
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
    LineRow,
    OperationKind,
    Order,
    Records,
    RunInfo,
    Site,
    Source,
    Space,
    TimelineRow,
    Touch,
} from "./source";

// The JSON in the page.
export interface EmbeddedData {
    mode: "embedded";
    run: RunInfo;
    timeline: { begin: number; end: number; rows: TimelineRow[] };
    launch: LaunchInfo;
    findings: { rows: FindingRow[] };
    sampled: string | null;
    records: string;
    [rest: string]: unknown; // "lines N" and "source N" of source N
}

const LANES = 32;
const CODES: Record<Space, number> = { global: 1, shared: 3, local: 5 };
const TOUCHES = 64; // of a conflict
const OPERATIONS = [
    "?",
    "load",
    "store",
    "atomic add",
    "atomic sub",
    "atomic exch",
    "atomic min",
    "atomic max",
    "atomic inc",
    "atomic dec",
    "atomic cas",
    "atomic and",
    "atomic or",
    "atomic xor",
    "atomic",
];

interface Table {
    count: number;
    index: Float64Array;
    cta: Uint32Array;
    warp: Uint16Array;
    site: Uint32Array;
    mask: Uint32Array;
    space: Uint8Array;
    cost: Uint16Array;
    ideal: Uint16Array;
    addresses: Float64Array; // LANES a record, NaN
    valued: Uint8Array; // 1 of records that have values
    valueStart: Uint32Array; // where a record's values begin
    values: Uint8Array; // of its active lanes all first bytes, then all second ones
}

async function unpack(text: string, widthOf: (site: number) => number): Promise<Table> {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const { numbers, columns } = decodeColumns(await new Response(stream).arrayBuffer());
    const count = numbers[0];
    const read = (stream: number) => numbersOf(columns[stream] as Uint8Array);
    const unfold = (value: number) => (value % 2 ? -(value + 1) / 2 : value / 2);
    const table: Table = {
        count,
        index: new Float64Array(count),
        cta: new Uint32Array(count),
        warp: new Uint16Array(count),
        site: new Uint32Array(count),
        mask: new Uint32Array(count),
        space: new Uint8Array(count),
        cost: new Uint16Array(count),
        ideal: new Uint16Array(count),
        addresses: new Float64Array(LANES * count).fill(NaN),
        valued: new Uint8Array(count),
        valueStart: new Uint32Array(count),
        values: columns[10] as Uint8Array,
    };
    const [index, cta, warp, site, mask, space, cost, ideal, valued, address] = columns.map((_, stream) =>
        read(stream),
    ) as (() => number)[];
    let lastIndex = 0,
        lastCta = 0,
        lastAddress = 0,
        valueEnd = 0;
    for (let i = 0; i < count; i++) {
        table.index[i] = lastIndex += index();
        table.cta[i] = lastCta += unfold(cta());
        table.warp[i] = warp();
        table.site[i] = site();
        table.mask[i] = ~mask() >>> 0;
        table.space[i] = space();
        table.cost[i] = cost();
        table.ideal[i] = ideal();
        table.valueStart[i] = valueEnd;
        table.valued[i] = valued();
        if (table.valued[i]) valueEnd += lanesOf(table.mask[i]) * widthOf(table.site[i]);
        for (let lane = 0; lane < LANES; lane++)
            if ((table.mask[i] >>> lane) & 1) table.addresses[LANES * i + lane] = lastAddress += unfold(address());
    }
    return table;
}

const inRanges = (ranges: [number, number][], value: number) =>
    ranges.some(([first, last]) => value >= first && value <= last);
const lanesOf = (mask: number) => {
    let count = 0;
    for (; mask; mask &= mask - 1) count++;
    return count;
};
const fileName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

export class EmbeddedSource implements Source {
    private readonly sites: Map<number, Site>;
    private table: Promise<Table> | null = null;

    constructor(private readonly data: EmbeddedData) {
        this.sites = new Map(data.run.sites.map((site) => [site.site, site]));
    }

    async run(): Promise<RunInfo> {
        return {
            ...this.data.run,
            sampled: this.data.sampled,
            hasCommunication: false,
            hasTime: false,
            otherRun: null,
        };
    }

    async timeline(): Promise<{ begin: number; end: number; rows: TimelineRow[] }> {
        return this.data.timeline;
    }

    // Only the launch that is in the page can be looked at.
    async launches(search: string, from: number, count: number): Promise<{ total: number; rows: LaunchRow[] }> {
        const { launch } = this.data,
            text = search.replace(/^#/, "");
        const found =
            !search || text === String(launch.launch) || launch.name.toLowerCase().includes(search.toLowerCase());
        return { total: found ? 1 : 0, rows: found && from < 1 && count > 0 ? [launch] : [] };
    }

    async neighbours(): Promise<LaunchRow[]> {
        return [this.data.launch];
    }

    async launch(launch: number): Promise<LaunchInfo> {
        this.check(launch);
        return this.data.launch;
    }

    private check(launch: number): void {
        if (launch !== this.data.launch.launch)
            throw new Error(`this page contains only launch ${this.data.launch.launch}, not launch ${launch}`);
    }

    private async records_(launch: number, signal?: AbortSignal): Promise<Table> {
        this.check(launch);
        const table = await (this.table ??= unpack(this.data.records, (site) => this.width(site)));
        signal?.throwIfAborted();
        return table;
    }

    // Which records pass, as places in the table.
    private passing(table: Table, filter: Filter): Uint32Array {
        const { block } = this.data.launch,
            threads = block[0] * block[1] * block[2];
        const siteList = new Set(filter.sites),
            lines = new Set(filter.lines.map(({ source, line }) => `${source}:${line}`));
        const kinds = new Set<OperationKind>(filter.kinds),
            { range } = filter;
        const sitePasses = new Map(
            [...this.sites.values()].map((site) => [
                site.site,
                (!siteList.size || siteList.has(site.site)) &&
                    (!kinds.size || kinds.has(site.kind)) &&
                    (!lines.size || lines.has(`${site.source}:${site.line}`)),
            ]),
        );
        const places = new Uint32Array(table.count);
        let count = 0;
        for (let i = 0; i < table.count; i++) {
            const warp = table.warp[i],
                site = table.site[i];
            if (!sitePasses.get(site)) continue;
            if (filter.ctas.length && !inRanges(filter.ctas, table.cta[i])) continue;
            if (filter.warps.length && !inRanges(filter.warps, warp)) continue;
            if (filter.space && table.space[i] !== CODES[filter.space]) continue;
            if (filter.partial && lanesOf(table.mask[i]) >= Math.min(LANES, Math.max(0, threads - warp * LANES)))
                continue;
            if (range) {
                if (table.space[i] !== CODES[range.space]) continue;
                if (!this.touched(table, i, range.first, range.last)) continue;
            }
            places[count++] = i;
        }
        return places.subarray(0, count);
    }

    private width(site: number): number {
        return this.sites.get(site)!.width;
    }

    // Whether a lane touches a byte of first..last; the lanes as bits.
    private touched(table: Table, i: number, first: number, last: number): number {
        const width = this.width(table.site[i]);
        let lanes = 0;
        for (let lane = 0; lane < LANES; lane++) {
            const address = table.addresses[LANES * i + lane];
            if (address <= last && address + width - 1 >= first) lanes |= 1 << lane;
        }
        return lanes;
    }

    async records(launch: number, filter: Filter, from: number, count: number, signal?: AbortSignal): Promise<Records> {
        const table = await this.records_(launch, signal),
            places = this.passing(table, filter),
            page = places.slice(from, from + count);
        const pick = <T extends { length: number }>(
            make: new (length: number) => T & { [i: number]: number },
            column: ArrayLike<number>,
            of = (_: number) => true,
        ) => {
            const out = new make(page.length);
            page.forEach((place, i) => {
                out[i] = of(place) ? column[place] : 0;
            });
            return out as T;
        };
        const addresses = new Float64Array(LANES * page.length);
        page.forEach((place, i) =>
            addresses.set(table.addresses.subarray(LANES * place, LANES * (place + 1)), LANES * i),
        );
        const isShared = (place: number) => table.space[place] === CODES.shared,
            isOther = (place: number) => !isShared(place);
        return {
            total: places.length,
            index: pick(Float64Array, table.index),
            cta: pick(Uint32Array, table.cta),
            warp: pick(Uint16Array, table.warp),
            site: pick(Uint32Array, table.site),
            space: pick(Uint8Array, table.space),
            mask: pick(Uint32Array, table.mask),
            addresses,
            ...this.valuesOf(table, page),
            hasValues: pick(Uint8Array, table.valued),
            sectors: pick(Uint16Array, table.cost, isOther),
            idealSectors: pick(Uint16Array, table.ideal, isOther),
            wavefronts: pick(Uint16Array, table.cost, isShared),
            idealWavefronts: pick(Uint16Array, table.ideal, isShared),
        };
    }

    // Of every lane as many bytes as the widest of these records has.
    private valuesOf(table: Table, page: Uint32Array): { values: Uint8Array | null; valueBytes: number } {
        const widest = this.data.run.hasValues
            ? page.reduce((most, place) => Math.max(most, this.width(table.site[place])), 0)
            : 0;
        if (!widest) return { values: null, valueBytes: 0 };
        const values = new Uint8Array(LANES * widest * page.length);
        page.forEach((place, i) => {
            if (!table.valued[place]) return;
            let from = table.valueStart[place];
            for (let byte = 0; byte < this.width(table.site[place]); byte++)
                for (let lane = 0; lane < LANES; lane++)
                    if ((table.mask[place] >>> lane) & 1)
                        values[(LANES * i + lane) * widest + byte] = table.values[from++]!;
        });
        return { values, valueBytes: widest };
    }

    async position(launch: number, filter: Filter, index: number, signal?: AbortSignal): Promise<number> {
        const table = await this.records_(launch, signal),
            places = this.passing(table, filter);
        return places.findIndex((place) => table.index[place] === index);
    }

    // ---- groups ----

    private placeOf(site: Site): string {
        return site.source === null
            ? "no source line"
            : `${fileName(this.data.run.sources[site.source].path)}:${site.line ?? 0}`;
    }

    private allocationAt(address: number): Allocation | undefined {
        const { allocations } = this.data.launch;
        let low = 0,
            high = allocations.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (allocations[middle].address <= address) low = middle + 1;
            else high = middle;
        }
        const found = allocations[low - 1];
        return found && address - found.address < found.size ? found : undefined;
    }

    // Key, label and what orders equal groups.
    private nameOf(table: Table, i: number, by: GroupBy): [string, string, number] {
        const site = this.sites.get(table.site[i])!;
        switch (by) {
            case "line":
                return site.source === null
                    ? ["", this.placeOf(site), Infinity]
                    : [
                          `${site.source}:${site.line ?? 0}`,
                          this.placeOf(site),
                          site.source * 2 ** 24 + (site.line ?? 0),
                      ];
            case "site":
                return [
                    `${site.site}`,
                    `${this.placeOf(site)} ${site.operation}${site.variable ? ` ${site.variable}` : ""}`,
                    site.site,
                ];
            case "warp":
                return [`${table.warp[i]}`, `warp ${table.warp[i]}`, table.warp[i]];
            case "cta":
                return [`${table.cta[i]}`, `CTA ${table.cta[i]}`, table.cta[i]];
            case "operation":
                return [site.operation, site.operation, OPERATIONS.indexOf(site.operation)];
            case "allocation":
                return this.regionOf(table, i);
        }
    }

    private regionOf(table: Table, i: number): [string, string, number] {
        if (table.space[i] === CODES.shared) return ["shared", "shared memory", 2 ** 40 + 1];
        if (table.space[i] === CODES.local) return ["local", "local memory", 2 ** 40];
        const found = this.allocationAt(
            table.addresses.subarray(LANES * i, LANES * (i + 1)).find((address) => !Number.isNaN(address))!,
        );
        return found
            ? [
                  `${found.allocation}`,
                  found.variable ?? `${found.kind} at 0x${found.address.toString(16)}`,
                  found.allocation,
              ]
            : ["outside", "outside every allocation", 2 ** 40 + 2];
    }

    async groups(
        launch: number,
        filter: Filter,
        by: GroupBy,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Group[] }> {
        const table = await this.records_(launch, signal),
            groups = new Map<string, Group & { order: number }>();
        for (const i of this.passing(table, filter)) {
            const [key, label, order] = this.nameOf(table, i, by),
                lanes = lanesOf(table.mask[i]);
            let group = groups.get(key);
            if (!group)
                groups.set(
                    key,
                    (group = {
                        key,
                        label,
                        order,
                        records: 0,
                        accesses: 0,
                        bytes: 0,
                        sectors: 0,
                        idealSectors: 0,
                        wavefronts: 0,
                        idealWavefronts: 0,
                    }),
                );
            group.records++;
            group.accesses += lanes;
            group.bytes += lanes * this.width(table.site[i]);
            if (table.space[i] === CODES.shared) {
                group.wavefronts += table.cost[i];
                group.idealWavefronts += table.ideal[i];
            } else {
                group.sectors += table.cost[i];
                group.idealSectors += table.ideal[i];
            }
        }
        const rows = [...groups.values()].sort((a, b) => b.accesses - a.accesses || a.order - b.order);
        return { total: rows.length, rows: rows.slice(0, count).map(({ order: _, ...group }) => group) };
    }

    // ---- addresses ----

    async density(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        cells: number,
        signal?: AbortSignal,
    ): Promise<Density> {
        const table = await this.records_(launch, signal);
        let cellBytes = 1;
        while (Math.floor((last - first) / cellBytes) >= cells) cellBytes *= 2;
        const count = Math.floor((last - first) / cellBytes) + 1;
        const reads = new Float64Array(count),
            writes = new Float64Array(count);
        for (const i of this.passing(table, filter)) {
            if (table.space[i] !== CODES[space]) continue;
            const { kind, width } = this.sites.get(table.site[i])!;
            for (let lane = 0; lane < LANES; lane++) {
                const address = table.addresses[LANES * i + lane];
                if (!(address <= last && address + width - 1 >= first)) continue;
                const to = Math.floor((Math.min(address + width - 1, last) - first) / cellBytes);
                for (let cell = Math.floor((Math.max(address, first) - first) / cellBytes); cell <= to; cell++) {
                    if (kind !== "store") reads[cell]++;
                    if (kind !== "load") writes[cell]++;
                }
            }
        }
        return { space, first, cellBytes, reads, writes };
    }

    private touch(table: Table, i: number, lane: number): Touch {
        return {
            index: table.index[i],
            lane,
            address: table.addresses[LANES * i + lane],
            cta: table.cta[i],
            warp: table.warp[i],
            site: table.site[i],
        };
    }

    async touching(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Touch[] }> {
        const table = await this.records_(launch, signal),
            rows: Touch[] = [];
        let total = 0;
        for (const i of this.passing(table, filter)) {
            if (table.space[i] !== CODES[space]) continue;
            const lanes = this.touched(table, i, first, last);
            for (let lane = 0; lane < LANES; lane++) {
                if (!((lanes >>> lane) & 1)) continue;
                total++;
                if (rows.length < count) rows.push(this.touch(table, i, lane));
            }
        }
        return { total, rows };
    }

    async order(
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
        const table = await this.records_(launch, signal);
        const rowBytes = Math.floor((last - first) / rows) + 1,
            columnRecords = Math.floor((toRecord - fromRecord) / columns) + 1;
        const height = Math.floor((last - first) / rowBytes) + 1,
            width = Math.floor((toRecord - fromRecord) / columnRecords) + 1;
        const reads = new Uint32Array(height * width),
            writes = new Uint32Array(height * width);
        for (const i of this.passing(table, filter)) {
            const index = table.index[i],
                site = this.sites.get(table.site[i])!;
            if (table.space[i] !== CODES[space] || index < fromRecord || index > toRecord) continue;
            const column = Math.floor((index - fromRecord) / columnRecords);
            for (let lane = 0; lane < LANES; lane++) {
                const address = table.addresses[LANES * i + lane];
                if (!(address <= last && address + site.width - 1 >= first)) continue;
                const to = Math.floor((Math.min(address + site.width - 1, last) - first) / rowBytes);
                for (let row = Math.floor((Math.max(address, first) - first) / rowBytes); row <= to; row++) {
                    if (site.kind !== "store") reads[row * width + column]++;
                    if (site.kind !== "load") writes[row * width + column]++;
                }
            }
        }
        return {
            columns: width,
            rows: height,
            firstRecord: fromRecord,
            lastRecord: fromRecord + width * columnRecords - 1,
            first,
            last: first + height * rowBytes - 1,
            reads,
            writes,
        };
    }

    // ---- bytes that several warps touch ----

    async conflicts(
        launch: number,
        filter: Filter,
        space: Space,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Conflict[] }> {
        const table = await this.records_(launch, signal);
        if (space === "local" || (filter.range && filter.range.space !== space)) return { total: 0, rows: [] };
        const places = this.passing(table, filter).filter((i) => table.space[i] === CODES[space]);
        return listConflicts(this.findConflicts(table, places, filter, space), count, (conflict) =>
            this.touchesOf(table, places, space, conflict),
        );
    }

    private granule(table: Table, places: Uint32Array, filter: Filter): number {
        const divides = (size: number) => {
            const ends = filter.range ? [filter.range.first, filter.range.last + 1] : [];
            if (ends.some((end) => end % size)) return false;
            for (const i of places) {
                if (this.width(table.site[i]) % size) return false;
                // NaN passes.
                for (let lane = 0; lane < LANES; lane++) if (table.addresses[LANES * i + lane] % size) return false;
            }
            return true;
        };
        return [16, 8, 4, 2].find(divides) ?? 1;
    }

    // Granules of several warps with what each of these does, joined where they are alike.
    private findConflicts(table: Table, places: Uint32Array, filter: Filter, space: Space): Found[] {
        const size = this.granule(table, places, filter),
            { range } = filter,
            shift = 2 ** 24;
        const each = (take: (group: number, granule: number, warp: number, does: number) => void) => {
            for (const i of places) {
                const { kind, width } = this.sites.get(table.site[i])!,
                    warp = table.cta[i] * 65536 + table.warp[i];
                const does = kind === "load" ? READ : kind === "store" ? WRITE | PLAIN : READ | WRITE,
                    group = space === "shared" ? table.cta[i] : 0;
                for (let lane = 0; lane < LANES; lane++) {
                    const address = table.addresses[LANES * i + lane];
                    if (Number.isNaN(address)) continue;
                    const first = Math.max(address, range?.first ?? 0),
                        last = Math.min(address + width - 1, range?.last ?? Infinity);
                    for (
                        let granule = Math.floor(first / size);
                        granule <= Math.floor(last / size) && first <= last;
                        granule++
                    )
                        take(group, granule, warp, does);
                }
            }
        };
        // First who is alone; then all of those who are not.
        const key = (group: number, granule: number) => (space === "shared" ? group * shift + granule : granule);
        const first = new Map<number, number>();
        each((group, granule, warp) => {
            const at = key(group, granule),
                known = first.get(at);
            if (known === undefined) first.set(at, warp);
            else if (known !== warp) first.set(at, -1);
        });
        const several = new Map<number, Map<number, number>>();
        each((group, granule, warp, does) => {
            const at = key(group, granule);
            if (first.get(at) !== -1) return;
            let warps = several.get(at);
            if (!warps) several.set(at, (warps = new Map()));
            warps.set(warp, (warps.get(warp) ?? 0) | does);
        });
        const found: Found[] = [];
        for (const at of [...several.keys()].sort((a, b) => a - b)) {
            const warps = several.get(at)!,
                cta = space === "shared" ? Math.floor(at / shift) : null,
                granule = space === "shared" ? at % shift : at;
            const who = [...warps]
                    .map(([warp, does]) => warp * 8 + does)
                    .sort((a, b) => a - b)
                    .join(),
                before = found[found.length - 1];
            if (before && before.cta === cta && before.last + 1 === granule * size && before.who === who) {
                before.last += size;
                continue;
            }
            const all = [...warps.values()];
            found.push({
                first: granule * size,
                last: (granule + 1) * size - 1,
                cta,
                who,
                warps: all.length,
                writers: all.filter((does) => does & WRITE).length,
                plain: all.some((does) => does & PLAIN),
            });
        }
        return found;
    }

    private touchesOf(
        table: Table,
        places: Uint32Array,
        space: Space,
        { first, last, cta }: Found,
    ): { touches: Touch[]; touchCount: number } {
        const touches: Touch[] = [];
        let touchCount = 0;
        for (const i of places) {
            if (space === "shared" && table.cta[i] !== cta) continue;
            const lanes = this.touched(table, i, first, last);
            for (let lane = 0; lanes && lane < LANES; lane++) {
                if (!((lanes >>> lane) & 1)) continue;
                touchCount++;
                if (touches.length < TOUCHES) touches.push(this.touch(table, i, lane));
            }
        }
        return { touches, touchCount };
    }

    // ---- the rest ----

    async source(source: number): Promise<string> {
        const text = this.data[`source ${source}`];
        if (typeof text !== "string") throw new Error(`this page does not contain the text of source ${source}`);
        return text;
    }

    async lines(source: number): Promise<LineRow[]> {
        return (this.data[`lines ${source}`] as { rows: LineRow[] } | undefined)?.rows ?? [];
    }

    async findings(): Promise<FindingRow[]> {
        return this.data.findings.rows;
    }

    async diff(): Promise<Diff> {
        throw new Error("this page contains one launch of one run: there is no other run to compare it with");
    }

    other(): Source | null {
        return null;
    }

    async communication(): Promise<Memory> {
        throw new Error("this page contains only one launch; 'ctascope report RUN' writes the page of the whole run");
    }
}

const READ = 1,
    WRITE = 2,
    PLAIN = 4; // PLAIN: a write that is not atomic

interface Found {
    first: number;
    last: number;
    cta: number | null;
    who: string;
    warps: number;
    writers: number;
    plain: boolean;
}

// Plain writes first, then atomic ones, then what is only read; each by CTA and address.
function listConflicts(
    found: Found[],
    count: number,
    touchesOf: (conflict: Found) => { touches: Touch[]; touchCount: number },
): { total: number; rows: Conflict[] } {
    const rank = (conflict: Found) => (conflict.plain ? 0 : conflict.writers ? 1 : 2);
    const rows = [...found]
        .sort((a, b) => rank(a) - rank(b) || (a.cta ?? 0) - (b.cta ?? 0) || a.first - b.first)
        .slice(0, count)
        .map((conflict) => ({
            first: conflict.first,
            last: conflict.last,
            warps: conflict.warps,
            writers: conflict.writers,
            atomic: conflict.writers > 0 && !conflict.plain,
            ...touchesOf(conflict),
        }));
    return { total: found.length, rows };
}
