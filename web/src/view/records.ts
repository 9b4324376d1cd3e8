// Records as the pictures use them: one of them, and a long list that is fetched page by page as it
// is scrolled.
import { counted, messageOf } from "./ask";
import type { Filter, Records, Source, Space } from "./source";
import { NO_FILTER, SPACE_CODES } from "./state";

export interface One {
    index: number;
    cta: number;
    warp: number;
    site: number;
    space: Space;
    mask: number;
    addresses: Float64Array; // of 32 lanes
    values: Uint8Array | null; // of 32 lanes
    valueBytes: number;
    sectors: number;
    idealSectors: number;
    wavefronts: number;
    idealWavefronts: number;
}

export function recordAt(records: Records, i: number): One {
    const bytes = records.valueBytes * 32;
    return {
        index: records.index[i],
        cta: records.cta[i],
        warp: records.warp[i],
        site: records.site[i],
        space: SPACE_CODES[records.space[i]] ?? "global",
        mask: records.mask[i],
        addresses: records.addresses.subarray(32 * i, 32 * i + 32),
        values:
            records.values && bytes && (records.hasValues?.[i] ?? 1)
                ? records.values.subarray(bytes * i, bytes * i + bytes)
                : null,
        valueBytes: records.valueBytes,
        sectors: records.sectors[i],
        idealSectors: records.idealSectors[i],
        wavefronts: records.wavefronts[i],
        idealWavefronts: records.idealWavefronts[i],
    };
}

// The first `width` bytes of the lane's value: what it read or wrote.
export function valueOf(one: One, lane: number, width: number): Uint8Array | null {
    if (!one.values) return null;
    const from = lane * one.valueBytes;
    return one.values.subarray(from, from + Math.min(width, one.valueBytes));
}

// Of the first requests that the filter lets through the one that costs most beyond its ideal; null: there is none.
const LOOKED_THROUGH = 300;
export async function worstRequest(
    source: Source,
    launch: number,
    filter: Filter,
    signal?: AbortSignal,
): Promise<One | null> {
    const records = await source.records(launch, filter, 0, LOOKED_THROUGH, signal);
    const lost = (i: number) =>
        records.sectors[i] - records.idealSectors[i] + records.wavefronts[i] - records.idealWavefronts[i];
    let best = 0;
    for (let i = 1; i < records.index.length; i++) if (lost(i) > lost(best)) best = i;
    return records.index.length ? recordAt(records, best) : null;
}

// Unfiltered, a record stands at its index, unless a page holds a part of the launch.
export async function fetchOne(
    source: Source,
    launch: number,
    index: number,
    signal?: AbortSignal,
): Promise<One | null> {
    let records = await source.records(launch, NO_FILTER, index, 1, signal);
    if (records.index[0] !== index) {
        const at = await source.position(launch, NO_FILTER, index, signal);
        if (at < 0) return null;
        records = await source.records(launch, NO_FILTER, at, 1, signal);
    }
    return records.index[0] === index ? recordAt(records, 0) : null;
}

export const PAGE = 128;
const KEPT_PAGES = 24; // about 40 KiB each

// The records of a launch that a filter lets through. Pages that went out of sight before they came
// are given up; the least recently shown are dropped.
export class RecordPages {
    total: number | null = null;
    error: string | null = null;
    private pages = new Map<number, Records>();
    private asked = new Map<number, AbortController>();
    private closed = false;

    constructor(
        private source: Source,
        readonly launch: number,
        readonly filter: Filter,
        private arrived: () => void,
    ) {}

    // The first page, which somebody else has asked for.
    begin(records: Records): void {
        this.total = records.total;
        if (!this.pages.has(0)) this.pages.set(0, records);
    }

    // Of the rows [from, to), those at hand; asks for the others.
    want(from: number, to: number): void {
        if (this.closed) return;
        const first = Math.floor(from / PAGE),
            last = Math.floor(Math.max(from, to - 1) / PAGE);
        for (const [page, control] of this.asked)
            if (page < first || page > last) {
                control.abort();
                this.asked.delete(page);
            }
        for (let page = first; page <= last; page++) {
            const have = this.pages.get(page);
            if (have) {
                this.pages.delete(page);
                this.pages.set(page, have); // used last
            } else if (!this.asked.has(page) && this.total !== null && page * PAGE < this.total) this.ask(page);
        }
    }
    private ask(page: number): void {
        const control = new AbortController();
        this.asked.set(page, control);
        counted(this.source.records(this.launch, this.filter, page * PAGE, PAGE, control.signal)).then(
            (records) => {
                if (control.signal.aborted) return;
                this.asked.delete(page);
                this.total = records.total;
                this.pages.set(page, records);
                for (const old of this.pages.keys()) {
                    if (this.pages.size <= KEPT_PAGES) break;
                    this.pages.delete(old);
                }
                this.error = null;
                this.arrived();
            },
            (error) => {
                if (control.signal.aborted) return;
                this.asked.delete(page);
                this.error = messageOf(error);
                this.arrived();
            },
        );
    }
    at(row: number): One | null {
        const page = this.pages.get(Math.floor(row / PAGE)),
            i = row % PAGE;
        return page && i < page.index.length ? recordAt(page, i) : null;
    }
    close(): void {
        this.closed = true;
        for (const control of this.asked.values()) control.abort();
    }
}
