// How the address map is drawn: cells by how often they were read and written, outlines of what is
// marked, names of rows and columns.
import { bytes, count } from "../format";
import type { Theme } from "../theme";
import type { Region } from "./address-grid";
import type { Brush } from "./canvas";
import { bytesOf, cellOf, emptySums, gather, type Grid } from "./grid-layout";
import type { Mark } from "./model";
import { cssOf, inksOf, mix, most, shadesOf, strength, type Inks } from "./paint";
import type { Density } from "./source";
import type { Shape } from "./state";

export const TOP = 16; // of the names of columns

// Lanes that read and wrote each cell of the picture.
export interface Sums {
    reads: Float64Array;
    writes: Float64Array;
    mostReads: number;
    mostWrites: number;
}
export interface Scene {
    grid: Grid;
    gutter: number;
    shape: Shape;
    region: Region;
    sums: Sums | null;
}
// An image of a picture with small cells, kept while only marks move.
export interface Dots {
    image: HTMLCanvasElement;
    sums: Sums | null;
    grid: Grid;
    theme: Theme;
}

export function sumsOf(grid: Grid, densities: Density[]): Sums {
    const reads = emptySums(grid),
        writes = emptySums(grid);
    for (const data of densities) {
        gather(grid, data.first, data.cellBytes, data.reads, reads);
        gather(grid, data.first, data.cellBytes, data.writes, writes);
    }
    return { reads, writes, mostReads: most(reads), mostWrites: most(writes) };
}

// What the shades stand for, in words: how many lanes a cell has.
export function scaleText(grid: Grid, { reads, writes, mostReads, mostWrites }: Sums): string {
    const touched: number[] = [];
    for (let i = 0; i < reads.length; i++) if (reads[i] || writes[i]) touched.push(Math.max(reads[i], writes[i]));
    if (!touched.length) return "no cell touched";
    const least = touched.reduce((a, b) => Math.min(a, b)),
        greatest = Math.max(mostReads, mostWrites),
        cell = bytes(grid.cellBytes * grid.merge);
    return least === greatest
        ? `every touched cell of ${cell}: ${count(least)} ${least === 1 ? "access" : "accesses"}`
        : `${count(least)} to ${count(greatest)} accesses per cell of ${cell}`;
}

const picturesOf = (grid: Grid) => Math.ceil(grid.rows / grid.merge);

function dotsOf({ grid, sums }: Scene, theme: Theme, inks: Inks, known: Dots | null): Dots {
    if (known && known.sums === sums && known.grid === grid && known.theme === theme) return known;
    const image = known?.image ?? document.createElement("canvas"),
        rows = picturesOf(grid);
    image.width = grid.columns;
    image.height = rows;
    const ink = image.getContext("2d")!,
        data = ink.createImageData(grid.columns, rows),
        pixels = new Uint32Array(data.data.buffer);
    const read = shadesOf(inks.paper, inks.read, sums?.mostReads ?? 0),
        write = shadesOf(inks.paper, inks.write, sums?.mostWrites ?? 0),
        both = shadesOf(inks.paper, inks.both, Math.max(sums?.mostReads ?? 0, sums?.mostWrites ?? 0));
    for (let i = 0; i < pixels.length; i++) {
        const r = sums?.reads[i] ?? 0,
            w = sums?.writes[i] ?? 0;
        pixels[i] = r && w ? both(Math.max(r, w)) : w ? write(w) : read(r);
    }
    ink.putImageData(data, 0, 0);
    return { image, sums, grid, theme };
}

export function paintCells(brush: Brush, scene: Scene, kept: { current: Dots | null }): void {
    const { context, theme, unit } = brush,
        { grid, sums } = scene,
        { cellWidth: cw, cellHeight: ch } = grid;
    const inks = inksOf(theme),
        rows = picturesOf(grid),
        left = scene.gutter * unit,
        top = TOP * unit;
    if (cw < 5 || ch < 5) {
        kept.current = dotsOf(scene, theme, inks, kept.current);
        context.imageSmoothingEnabled = false;
        context.drawImage(kept.current.image, left, top, grid.columns * cw, rows * ch);
        return;
    }
    const greatest = Math.max(sums?.mostReads ?? 0, sums?.mostWrites ?? 0);
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < grid.columns; column++) {
            if (!bytesOf(grid, { column, row })) break;
            const i = row * grid.columns + column,
                r = sums?.reads[i] ?? 0,
                w = sums?.writes[i] ?? 0;
            const ink = r && w ? inks.both : w ? inks.write : inks.read,
                highest = r && w ? greatest : w ? sums!.mostWrites : (sums?.mostReads ?? 0);
            context.fillStyle = cssOf(mix(inks.paper, ink, strength(Math.max(r, w), highest)));
            context.fillRect(left + column * cw, top + row * ch, cw - unit, ch - unit);
        }
}

export function paintMark(brush: Brush, { grid, gutter }: Scene, mark: Mark): void {
    const { context, theme, small, unit } = brush;
    const styles = {
        hover: [theme.emphasis, 2.5],
        selected: [theme.emphasis, 1.25],
        pin: [theme.palette[3], 2],
        bytes: [theme.emphasis, 2],
    } as const;
    const [colour, thick] = styles[mark.kind],
        { cellWidth: cw, cellHeight: ch } = grid;
    if (mark.last < grid.first || mark.first > grid.last) return;
    const a = cellOf(grid, Math.max(mark.first, grid.first)),
        b = cellOf(grid, Math.min(mark.last, grid.last));
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = thick * unit;
    for (let row = a.row; row <= Math.min(b.row, a.row + 400); row++) {
        const from = row === a.row ? a.column : 0,
            to = row === b.row ? b.column : grid.columns - 1;
        const x = gutter * unit + from * cw,
            y = TOP * unit + row * ch,
            wide = Math.max(3 * unit, (to - from + 1) * cw - unit),
            tall = Math.max(3 * unit, ch - unit);
        if (cw < 4 || ch < 4) context.fillRect(x - unit, y - unit, Math.max(wide, 3 * unit), Math.max(tall, 3 * unit));
        else context.strokeRect(x + unit / 2, y + unit / 2, wide - unit, tall - unit);
        if (!mark.label || row !== a.row || cw < 9) continue;
        const labelWide = Math.min(cw - unit, 11 * unit),
            labelTall = Math.min(ch - unit, 12 * unit);
        context.font = small;
        context.textAlign = "center";
        context.fillRect(x, y, labelWide, labelTall);
        context.fillStyle = theme.background;
        context.fillText(mark.label, x + labelWide / 2, y + labelTall / 2 + 0.5);
        context.textAlign = "left";
    }
}

function rowName({ grid, shape, region }: Scene, row: number): string {
    const offset = grid.first + row * grid.merge * grid.pitch - region.first;
    if (shape.kind === "array") return `[${count(Math.floor(offset / region.element))}]`;
    if (offset % grid.pitch) return `+${count(offset)} B`;
    return shape.kind === "matrix" ? `row ${count(offset / grid.pitch)}` : `[${count(offset / grid.pitch)}]`;
}

const STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export function paintRulers(brush: Brush, scene: Scene): void {
    const { context, theme, small, unit, width } = brush,
        { grid, shape, region } = scene,
        left = scene.gutter * unit,
        top = TOP * unit;
    const every = Math.max(1, Math.ceil((14 * unit) / grid.cellHeight));
    context.font = small;
    context.fillStyle = theme.text;
    context.textAlign = "right";
    for (let row = 0; row < picturesOf(grid); row += every)
        context.fillText(
            rowName(scene, row),
            left - 8 * unit,
            top + row * grid.cellHeight + Math.max(grid.cellHeight / 2, 5 * unit),
        );
    context.textAlign = "left";
    const nameOf = (column: number) =>
        shape.kind === "structs" ? `+${column * grid.cellBytes}` : count((column * grid.cellBytes) / region.element);
    const room = context.measureText(nameOf(grid.columns - 1)).width + 10 * unit,
        least = Math.ceil(room / grid.cellWidth);
    const per = shape.kind === "structs" ? least : (STEPS.find((step) => step >= least) ?? least);
    const fits = (column: number) => (column + least) * grid.cellWidth <= Math.max(room, width - left);
    for (let column = 0; column < grid.columns && fits(column); column += per)
        context.fillText(nameOf(column), left + column * grid.cellWidth + unit, top - 7 * unit);
}
