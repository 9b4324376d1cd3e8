// Lanes of intervals as ctascope packs them into a page (src/report/lanes.h): chunks with an
// overview, unpacked when one looks closely.
import { numbersOf } from "./numbers";

export interface Chunk {
    start: number;
    end: number;
    count: number;
    // kind + 1 (0: nothing), ns of the bin that lie in an interval, how many bins, ...; few intervals have none
    bins: number[];
    data: string;
}

export interface Intervals {
    count: number;
    start: Float64Array;
    end: Float64Array;
    kind: Uint32Array;
    place: Uint32Array;
    link: Float64Array; // a time, or less than start: none
}

export const BINS = 1024;
const KEPT = 400; // unpacked chunks kept, all lanes together: more than a screen shows

async function inflate(text: string): Promise<Uint8Array> {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function decode(bytes: Uint8Array, count: number): Intervals {
    const out: Intervals = {
        count,
        start: new Float64Array(count),
        end: new Float64Array(count),
        kind: new Uint32Array(count),
        place: new Uint32Array(count),
        link: new Float64Array(count),
    };
    let before = 0;
    const next = numbersOf(bytes);
    for (let i = 0; i < count; i++) {
        before += next();
        out.start[i] = before;
        out.end[i] = before + next();
        out.kind[i] = next();
        out.place[i] = next();
        const folded = next();
        out.link[i] = before + (folded % 2 ? -(folded + 1) / 2 : folded / 2);
    }
    return out;
}

const kept = new Map<Chunk, Intervals>();
const wanted = new Map<Chunk, Promise<Intervals>>();

// The chunk's intervals if they are at hand; else they are fetched, and `then` is called.
export function intervalsOf(chunk: Chunk, then: () => void): Intervals | null {
    const have = kept.get(chunk);
    if (have) {
        kept.delete(chunk); // the last one used goes last
        kept.set(chunk, have);
        return have;
    }
    if (!wanted.has(chunk)) {
        const promise = inflate(chunk.data).then((bytes) => {
            const intervals = decode(bytes, chunk.count);
            wanted.delete(chunk);
            kept.set(chunk, intervals);
            for (const old of kept.keys()) {
                if (kept.size <= KEPT) break;
                kept.delete(old);
            }
            return intervals;
        });
        wanted.set(chunk, promise);
    }
    void wanted.get(chunk)!.then(then);
    return null;
}

// The overview: each run of bins that are alike, with the share of its time that lies in intervals.
// Bins hold whole nanoseconds: bin b those t with floor((t - start) * BINS / span) = b.
export function overviewOf(chunk: Chunk, each: (from: number, to: number, kind: number, full: number) => void) {
    const span = chunk.end - chunk.start || 1,
        startOf = (bin: number) => chunk.start + Math.ceil((bin * span) / BINS);
    for (let i = 0, bin = 0; i < chunk.bins.length; i += 3) {
        const kind = chunk.bins[i],
            covered = chunk.bins[i + 1],
            many = chunk.bins[i + 2];
        const from = startOf(bin),
            to = startOf(bin + many);
        if (kind && to > from) each(from, to, kind - 1, Math.min(1, (covered * many) / (to - from)));
        bin += many;
    }
}

// The chunks that lie in [from, to], which are in order of time.
export function chunksIn(chunks: Chunk[], from: number, to: number): Chunk[] {
    let low = 0,
        high = chunks.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (chunks[middle].end < from) low = middle + 1;
        else high = middle;
    }
    let end = low;
    while (end < chunks.length && chunks[end].start <= to) end++;
    return chunks.slice(low, end);
}
