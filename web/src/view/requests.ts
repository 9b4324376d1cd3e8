// What one request of a warp costs, lane by lane: the arithmetic of src/analyze/access/request.c for
// the few requests that a picture shows, in a form that can be drawn.
//
// Global and local memory move in *sectors* of 32 bytes, four to a *line*. Local memory is interleaved:
// a line holds one word (4 bytes) of each lane. Shared memory has 32
// *banks*; a request goes in *phases* of 32 lanes (up to 4 bytes a lane), 16 (8 bytes) or 8 (more),
// and a phase takes as many *wavefronts* as its busiest bank has distinct words. Lanes on the same
// word do not conflict. Loads whose lanes have one address in pairs go in phases twice as large.

import type { Space } from "./source";

export const LANES = 32,
    BANKS = 32,
    SECTOR_BYTES = 32,
    LINE_BYTES = 128;

export interface Word {
    word: number; // address / bank width
    bank: number;
    lanes: number[]; // that touch it
}
export interface Phase {
    first: number; // lane
    lanes: number; // of the warp, active or not
    words: Word[]; // distinct, by address
    perBank: number[]; // distinct words of each bank
    ways: number; // of the busiest bank
    ideal: number; // wavefronts if words were spread evenly
}
export interface BankCost {
    phases: Phase[]; // those with an active lane
    wavefronts: number;
    ideal: number;
    ways: number; // of the worst phase
}

export const isActive = (mask: number, lane: number) => ((mask >>> lane) & 1) === 1;

export function lanesOf(mask: number): number[] {
    const lanes: number[] = [];
    for (let lane = 0; lane < LANES; lane++) if (isActive(mask, lane)) lanes.push(lane);
    return lanes;
}

function inPairs(addresses: ArrayLike<number>, mask: number, step: number): boolean {
    for (let lane = 0; lane < LANES; lane++)
        if (isActive(mask, lane) && isActive(mask, lane | step) && addresses[lane] !== addresses[lane | step])
            return false;
    return true;
}

function phaseLanes(
    addresses: ArrayLike<number>,
    mask: number,
    width: number,
    bankBytes: number,
    loads: boolean,
): number {
    if (width <= 4) return 32;
    const lanes = width <= 8 ? 16 : 8;
    return loads && bankBytes === 4 && (inPairs(addresses, mask, 1) || inPairs(addresses, mask, 2)) ? 2 * lanes : lanes;
}

// `addresses` has 32 elements; those of inactive lanes do not matter. loads: neither a store nor an atomic.
export function bankCost(
    addresses: ArrayLike<number>,
    mask: number,
    width: number,
    bankBytes: number,
    loads: boolean,
): BankCost {
    const phases: Phase[] = [],
        step = phaseLanes(addresses, mask, width, bankBytes, loads);
    for (let first = 0; first < LANES; first += step) {
        const words = new Map<number, Word>(),
            perBank = new Array<number>(BANKS).fill(0);
        for (let lane = first; lane < first + step; lane++) {
            if (!isActive(mask, lane)) continue;
            const last = Math.floor((addresses[lane] + width - 1) / bankBytes);
            for (let word = Math.floor(addresses[lane] / bankBytes); word <= last; word++) {
                const have = words.get(word);
                if (have) have.lanes.push(lane);
                else {
                    words.set(word, { word, bank: word % BANKS, lanes: [lane] });
                    perBank[word % BANKS]++;
                }
            }
        }
        if (!words.size) continue;
        phases.push({
            first,
            lanes: step,
            words: [...words.values()].sort((a, b) => a.word - b.word),
            perBank,
            ways: Math.max(...perBank),
            ideal: Math.ceil(words.size / BANKS),
        });
    }
    return {
        phases,
        wavefronts: phases.reduce((sum, phase) => sum + phase.ways, 0),
        ideal: phases.reduce((sum, phase) => sum + phase.ideal, 0),
        ways: Math.max(0, ...phases.map((phase) => phase.ways)),
    };
}

export interface Unit {
    unit: number; // address / its size
    lanes: number[];
}

// The units (of a given size in bytes) that a request touches, by address.
export function unitsOf(addresses: ArrayLike<number>, mask: number, width: number, unitBytes: number): Unit[] {
    const units = new Map<number, Unit>();
    for (const lane of lanesOf(mask)) {
        const last = Math.floor((addresses[lane] + width - 1) / unitBytes);
        for (let unit = Math.floor(addresses[lane] / unitBytes); unit <= last; unit++) {
            const have = units.get(unit);
            if (have) have.lanes.push(lane);
            else units.set(unit, { unit, lanes: [lane] });
        }
    }
    return [...units.values()].sort((a, b) => a.unit - b.unit);
}

// Bytes of one lane that lie side by side in memory.
export interface Piece {
    lane: number;
    start: number;
    length: number;
}

const LOCAL_WORD_BYTES = LINE_BYTES / LANES;

// Lowest word of the frames that the active lanes touch.
export function firstLocalWord(addresses: ArrayLike<number>, mask: number): number {
    return Math.min(...lanesOf(mask).map((lane) => Math.floor(addresses[lane] / LOCAL_WORD_BYTES)));
}

// Where the bytes of each lane lie in memory; in local memory from the line of the first word on.
export function piecesOf(addresses: ArrayLike<number>, mask: number, width: number, space: Space): Piece[] {
    const lanes = lanesOf(mask);
    if (space !== "local") return lanes.map((lane) => ({ lane, start: addresses[lane], length: width }));
    const base = firstLocalWord(addresses, mask) * LOCAL_WORD_BYTES;
    return lanes.flatMap((lane) => {
        const pieces: Piece[] = [],
            stop = addresses[lane] - base + width;
        for (let at = addresses[lane] - base; at < stop;) {
            const word = Math.floor(at / LOCAL_WORD_BYTES),
                end = Math.min(stop, (word + 1) * LOCAL_WORD_BYTES),
                start = word * LINE_BYTES + lane * LOCAL_WORD_BYTES + (at % LOCAL_WORD_BYTES);
            pieces.push({ lane, start, length: end - at });
            at = end;
        }
        return pieces;
    });
}

// The units (of a given size in bytes) in which pieces lie, by address.
export function unitsOfPieces(pieces: Piece[], unitBytes: number): Unit[] {
    const units = new Map<number, Unit>();
    for (const { lane, start, length } of pieces) {
        const last = Math.floor((start + length - 1) / unitBytes);
        for (let unit = Math.floor(start / unitBytes); unit <= last; unit++) {
            const have = units.get(unit);
            if (!have) units.set(unit, { unit, lanes: [lane] });
            else if (!have.lanes.includes(lane)) have.lanes.push(lane);
        }
    }
    return [...units.values()].sort((a, b) => a.unit - b.unit);
}

export interface SectorCost {
    sectors: number;
    lines: number;
    ideal: number;
    distinctBytes: number;
}

// Counts the units of `unitBytes` (sectors, for example) that the accesses touch. The addresses must ascend.
// The function makes no list of units: with many requests, building it would take most of the time.
function countUnits(ascending: ArrayLike<number>, count: number, width: number, unitBytes: number): number {
    let units = 0,
        seen = -1;
    for (let i = 0; i < count; i++) {
        const first = Math.floor(ascending[i] / unitBytes),
            last = Math.floor((ascending[i] + width - 1) / unitBytes);
        if (last > seen) units += last - Math.max(first, seen + 1) + 1;
        seen = Math.max(seen, last);
    }
    return units;
}

function localCost(addresses: ArrayLike<number>, mask: number, width: number): SectorCost {
    const pieces = piecesOf(addresses, mask, width, "local"),
        distinctBytes = lanesOf(mask).length * width;
    return {
        sectors: unitsOfPieces(pieces, SECTOR_BYTES).length,
        lines: unitsOfPieces(pieces, LINE_BYTES).length,
        ideal: Math.ceil(distinctBytes / SECTOR_BYTES),
        distinctBytes,
    };
}

export function sectorCost(
    addresses: ArrayLike<number>,
    mask: number,
    width: number,
    space: Space = "global",
): SectorCost {
    if (space === "local") return localCost(addresses, mask, width);
    const ascending = new Float64Array(LANES);
    let count = 0;
    for (let lane = 0; lane < LANES; lane++) if (isActive(mask, lane)) ascending[count++] = addresses[lane];
    ascending.subarray(0, count).sort();
    const distinctBytes = countUnits(ascending, count, width, 1);
    return {
        sectors: countUnits(ascending, count, width, SECTOR_BYTES),
        lines: countUnits(ascending, count, width, LINE_BYTES),
        ideal: Math.ceil(distinctBytes / SECTOR_BYTES),
        distinctBytes,
    };
}

// Rows of `long` lanes of the warp, active or not: `step` bytes from lane to lane and `pitch` from row to row.
function rowsOf(lanes: number[], addresses: ArrayLike<number>, long: number): { step: number; pitch: number } | null {
    const row = (lane: number) => Math.floor(lane / long),
        pair = lanes.findIndex((lane, i) => i > 0 && row(lane) === row(lanes[i - 1]));
    if (pair < 0) return null;
    const step = (addresses[lanes[pair]] - addresses[lanes[pair - 1]]) / (lanes[pair] - lanes[pair - 1]);
    const start = (lane: number) => addresses[lane] - step * (lane % long),
        last = lanes[lanes.length - 1];
    if (row(last) === row(lanes[0])) return null;
    const pitch = (start(last) - start(lanes[0])) / (row(last) - row(lanes[0]));
    const fits = lanes.every((lane) => start(lane) === start(lanes[0]) + pitch * (row(lane) - row(lanes[0])));
    return fits ? { step, pitch } : null;
}

// What cts_request_cost() calls two-level; null: not so.
function rowsText(lanes: number[], addresses: ArrayLike<number>, width: number): string | null {
    // Where lanes are not active several lengths may fit: powers of two, as of a CTA's x, come first.
    const lengths = Array.from({ length: LANES - 2 }, (_, i) => i + 2);
    for (const long of [16, 8, 4, 2, ...lengths]) {
        const found = rowsOf(lanes, addresses, long);
        if (!found) continue;
        const { step, pitch } = found;
        if (pitch === 0) return `rows of ${long} lanes, all at the same addresses`;
        const far = `${Math.abs(step).toLocaleString("en-US")} B apart`,
            lie = step === width ? "side by side" : step === 0 ? "at one address" : far;
        return `two-level: rows of ${long} lanes ${lie}, ${pitch.toLocaleString("en-US")} B from row to row`;
    }
    return null;
}

// How the addresses of the active lanes lie, in words.
export function layoutText(addresses: ArrayLike<number>, mask: number, width: number, space: Space = "global"): string {
    const lanes = lanesOf(mask);
    if (!lanes.length) return "no lane active";
    if (lanes.length === 1) return "a single lane";
    if (space === "local")
        return lanes.every((lane) => addresses[lane] === addresses[lanes[0]])
            ? "every lane at one offset of its own frame"
            : "lanes at different offsets of their frames";
    const stride = (addresses[lanes[1]] - addresses[lanes[0]]) / (lanes[1] - lanes[0]);
    const constant = lanes.every((lane) => addresses[lane] - addresses[lanes[0]] === stride * (lane - lanes[0]));
    if (!constant) {
        const rows = rowsText(lanes, addresses, width),
            same = new Set(lanes.map((lane) => addresses[lane])).size;
        if (rows) return rows;
        return same < lanes.length ? `irregular, ${same} distinct addresses` : "irregular";
    }
    if (stride === 0) return "uniform: every lane at one address";
    if (stride === width) return "dense: side by side";
    if (stride === -width) return "dense, descending";
    return `strided: ${stride.toLocaleString("en-US")} B from lane to lane`;
}
