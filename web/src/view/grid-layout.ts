// How a range of bytes lies on a picture: rows of `pitch` bytes, cut into cells of `cellBytes`, cells
// of so many pixels. Zoomed in a cell is an element; zoomed out it is a power of two of them, or a
// row of the picture is several of the matrix.
import type { Shape } from "./state";

export interface Grid {
    first: number; // byte of the first cell
    last: number;
    pitch: number; // bytes of a row
    cellBytes: number;
    columns: number;
    rows: number; // of the memory
    merge: number; // rows of the memory in one of the picture
    cellWidth: number;
    cellHeight: number;
    slices: Slice[]; // to ask for
}
// Answers have cells of a power of two bytes, and so many at most.
export interface Slice {
    first: number;
    last: number;
    cells: number;
}

const SLICE_CELLS = 1 << 16,
    SLICES = 8;
const LARGEST = 26,
    SMALLEST = 2, // pixels of a cell
    FLATTEST = 16; // times as wide as high

// Pixels; `unit` is 1 where the page has its ordinary size.
export interface Room {
    width: number;
    height: number;
    unit: number;
}

// Rows of whole warps of cells, so that they begin at round numbers; cells as large as fit.
function arrayGrid(first: number, last: number, element: number, { width, height, unit }: Room): Grid {
    for (let cellBytes = element; ; cellBytes *= 2) {
        const cells = Math.ceil((last - first + 1) / cellBytes),
            side = Math.min(LARGEST * unit, Math.sqrt((width * height) / cells));
        if (cells > SLICE_CELLS) continue;
        const about = width / side,
            step = about >= 32 ? 32 : about >= 16 ? 16 : 8;
        let best = { columns: step, size: 0 };
        for (const columns of [Math.floor(about / step) * step, Math.ceil(about / step) * step]) {
            if (columns < step) continue;
            const size = Math.min(LARGEST * unit, width / columns, height / Math.ceil(cells / columns));
            if (size > best.size) best = { columns, size };
        }
        if (best.size < SMALLEST * unit && cells > 64) continue;
        const size = best.size >= 5 ? Math.floor(best.size) : best.size,
            { columns } = best;
        return {
            first,
            last,
            pitch: columns * cellBytes,
            cellBytes,
            columns,
            rows: Math.ceil(cells / columns),
            merge: 1,
            cellWidth: size,
            cellHeight: size,
            slices: [{ first, last: first + cells * cellBytes - 1, cells }],
        };
    }
}

// The largest power of two that divides it: what answers can have for cells of so many bytes.
function gauge(bytes: number): number {
    let power = 1;
    while (bytes % (power * 2) === 0) power *= 2;
    return power;
}

function slicesOf(first: number, last: number, bytes: number): Slice[] {
    const slices: Slice[] = [];
    for (let from = first; from <= last; from += SLICE_CELLS * bytes) {
        const cells = Math.min(SLICE_CELLS, Math.ceil((last - from + 1) / bytes));
        slices.push({ first: from, last: from + cells * bytes - 1, cells });
    }
    return slices;
}

// A range that would take too many questions ends earlier: see `last`.
export function gridOf(first: number, end: number, shape: Shape, element: number, room: Room): Grid {
    const pitch = shape.pitch,
        { width, height, unit } = room;
    if (shape.kind === "array" || pitch < 1) return arrayGrid(first, end, element, room);
    const structs = shape.kind === "structs",
        divides = (bytes: number) => pitch % bytes === 0;
    let cellBytes = structs ? (divides(4) ? 4 : 1) : divides(element) ? element : 1;
    const rowsOf = (last: number) => Math.ceil((last - first + 1) / pitch);
    // Cells wide enough to see, and few enough to ask for.
    const tooFine = () =>
        pitch / cellBytes > width / (structs ? 6 * unit : 1) ||
        (!structs && (end - first + 1) / gauge(cellBytes) > SLICE_CELLS);
    while (tooFine() && cellBytes < pitch) {
        const next = [2, 3, 5, 7].map((factor) => cellBytes * factor).find(divides);
        if (!next) break;
        cellBytes = next;
    }
    const bytes = gauge(cellBytes),
        columns = Math.ceil(pitch / cellBytes);
    const most = Math.floor((SLICES * SLICE_CELLS * bytes) / pitch);
    const last = Math.min(end, first + Math.max(1, most) * pitch - 1),
        rows = rowsOf(last);
    let cellWidth = Math.min((structs ? 72 : LARGEST) * unit, width / columns),
        cellHeight = Math.min(LARGEST * unit, height / rows);
    // Square, unless many rows would leave a narrow strip: then as wide as there is room, within reason.
    if (!structs) {
        cellHeight = Math.min(cellWidth, Math.max(cellHeight, 1));
        cellWidth = Math.min(cellWidth, cellHeight * (columns * cellHeight * 2 < width ? FLATTEST : 1));
    }
    if (cellWidth >= 4) cellWidth = Math.floor(cellWidth);
    if (cellHeight >= 4) cellHeight = Math.floor(cellHeight);
    const merge = Math.max(1, Math.ceil((rows * Math.max(1, cellHeight)) / height));
    if (merge > 1) cellHeight = height / Math.ceil(rows / merge);
    return {
        first,
        last,
        pitch,
        cellBytes,
        columns,
        rows,
        merge,
        cellWidth,
        cellHeight: Math.max(cellHeight, 1e-3),
        slices: slicesOf(first, last, bytes),
    };
}

export interface Cell {
    column: number;
    row: number; // of the picture
}

export function cellOf(grid: Grid, byte: number): Cell {
    const offset = byte - grid.first,
        row = Math.floor(offset / grid.pitch);
    return { column: Math.floor((offset - row * grid.pitch) / grid.cellBytes), row: Math.floor(row / grid.merge) };
}

// The bytes of a cell; of several merged rows those of the first.
export function bytesOf(grid: Grid, cell: Cell): [number, number] | null {
    if (cell.column < 0 || cell.column >= grid.columns || cell.row < 0) return null;
    const first = grid.first + cell.row * grid.merge * grid.pitch + cell.column * grid.cellBytes;
    if (first > grid.last) return null;
    const end = Math.min(first + grid.cellBytes, grid.first + (cell.row * grid.merge + 1) * grid.pitch) - 1;
    return [first, Math.min(end, grid.last)];
}

export const emptySums = (grid: Grid) => new Float64Array(Math.ceil(grid.rows / grid.merge) * grid.columns);

// Adds cells of an answer to the cells of the picture that show them.
export function gather(
    grid: Grid,
    first: number,
    cellBytes: number,
    values: ArrayLike<number>,
    out: Float64Array = emptySums(grid),
): Float64Array {
    if (grid.merge === 1 && first === grid.first && cellBytes === grid.cellBytes && grid.pitch % cellBytes === 0) {
        for (let i = 0; i < Math.min(out.length, values.length); i++) out[i] += values[i];
        return out;
    }
    if (cellBytes <= grid.cellBytes) {
        for (let i = 0; i < values.length; i++) {
            if (!values[i]) continue;
            const byte = first + i * cellBytes;
            if (byte < grid.first || byte > grid.last) continue;
            const { column, row } = cellOf(grid, byte);
            out[row * grid.columns + column] += values[i];
        }
        return out;
    }
    // Coarser answers: each cell of the picture shows the one that it lies in.
    for (let i = 0; i < out.length; i++) {
        const bytes = bytesOf(grid, { column: i % grid.columns, row: Math.floor(i / grid.columns) });
        if (bytes && bytes[0] >= first) out[i] += values[Math.floor((bytes[0] - first) / cellBytes)] ?? 0;
    }
    return out;
}

interface Bytes {
    first: number;
    last: number;
}

// Zoomed by a factor around a byte, inside the region, in whole rows.
export function zoomed(
    { first, last }: Bytes,
    around: number,
    factor: number,
    region: Bytes,
    quantum: number,
): [number, number] {
    const whole = region.last - region.first + 1,
        size = last - first + 1;
    const least = Math.min(whole, quantum * 16);
    const next = Math.min(whole, Math.max(least, Math.ceil((size * factor) / quantum) * quantum));
    const share = (around - first) / size;
    let start = Math.max(region.first, Math.round(around - share * next));
    start = region.first + Math.floor((start - region.first) / quantum) * quantum;
    start = Math.min(start, Math.max(region.first, region.last + 1 - next));
    return [start, Math.min(region.last, start + next - 1)];
}
