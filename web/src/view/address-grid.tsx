// A piece of memory, cell by cell: reads blue, writes orange, both half of each. Lanes that are
// pointed at, selected or pinned are outlined over it; cells that are pointed at ask who touched
// them. Wheel: zoom. Drag: select bytes. Click: select a cell's bytes. Double click: all again.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count } from "../format";
import type { Theme } from "../theme";
import { useAsk, type Answer } from "./ask";
import { Canvas, type Brush } from "./canvas";
import { bytesOf, cellOf, emptySums, gather, gridOf, zoomed, type Grid } from "./grid-layout";
import { zoomOf } from "./keys";
import { kindOf, marksOf, useModel, type Mark } from "./model";
import { Failed, plural } from "./parts";
import { addressText, placeText, pointText } from "./places";
import { cssOf, inksOf, mix, most, shadesOf, strength, type Inks } from "./paint";
import type { Allocation, Density } from "./source";
import { hex, type Range, type Shape } from "./state";

export interface Region extends Range {
    name: string;
    element: number; // bytes
    allocation: Allocation | null; // of shared memory a variable
}
const TOP = 16,
    TOUCHES = 256,
    ASK_AFTER_MS = 50;

export interface Picture {
    grid: Grid;
    gutter: number;
    density: Answer<Density[]>;
}

// How the window lies on a place of such a size, and what was read and written there.
export function usePicture(
    region: Region | null,
    window: Range | null,
    shape: Shape | null,
    width: number,
    height: number,
    unit: number,
): Picture | null {
    const model = useModel(),
        { launch, state } = model;
    // Room for the longest name of a row.
    const longest =
        !region || !window || !shape
            ? 0
            : Math.floor(
                  (window.last - region.first) / (shape.kind === "array" ? region.element : Math.max(1, shape.pitch)),
              );
    const gutter = Math.max(44, 22 + 7 * count(longest).length + (shape?.kind === "matrix" ? 20 : 0));
    const grid = useMemo(
        () =>
            !region || !window || !shape || !width
                ? null
                : gridOf(
                      window.first,
                      window.last,
                      shape,
                      region.element,
                      Math.max(80, width - (gutter + 10) * unit),
                      Math.max(40, height - (TOP + 4) * unit),
                      unit,
                  ),
        [window?.space, window?.first, window?.last, shape?.kind, shape?.pitch, region?.element, width, height, unit],
    );
    const density = useAsk(
        `${launch.launch}|${window?.space}`,
        grid &&
            `density|${grid.slices.map((s) => `${s.first}-${s.cells}-${s.last}`).join()}|` +
                `${JSON.stringify(state.filter)}`,
        (signal) =>
            Promise.all(
                grid!.slices.map((s) =>
                    model.source.density(launch.launch, state.filter, window!.space, s.first, s.last, s.cells, signal),
                ),
            ),
    );
    return grid && { grid, gutter, density };
}

export function AddressGrid({
    region,
    window,
    shape,
    picture: { grid, gutter, density },
    width,
    unit,
}: {
    region: Region;
    window: Range;
    shape: Shape;
    picture: Picture;
    width: number;
    unit: number;
}) {
    const model = useModel(),
        { launch, state } = model;
    const sums = useMemo(() => {
        if (!density.data) return null;
        const reads = emptySums(grid),
            writes = emptySums(grid);
        for (const data of density.data) {
            gather(grid, data.first, data.cellBytes, data.reads, reads);
            gather(grid, data.first, data.cellBytes, data.writes, writes);
        }
        return { reads, writes, mostReads: most(reads), mostWrites: most(writes) };
    }, [density.data, grid]);
    const dots = useRef<{ image: HTMLCanvasElement; sums: typeof sums; grid: Grid; theme: Theme } | null>(null);
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
    const asked = useRef<{ control: AbortController; timer: number } | null>(null);
    const top = TOP * unit,
        left = gutter * unit;
    const rowName = (row: number) => {
        const offset = grid.first + row * grid.merge * grid.pitch - region.first;
        if (shape.kind === "array") return `[${count(Math.floor(offset / region.element))}]`;
        if (offset % grid.pitch) return `+${count(offset)} B`;
        return shape.kind === "matrix" ? `row ${count(offset / grid.pitch)}` : `[${count(offset / grid.pitch)}]`;
    };

    // Two dots a cell: of one that was read and written, the left is read, the right written. Kept while
    // only marks move.
    const dotsOf = (theme: Theme, inks: Inks, rows: number): HTMLCanvasElement => {
        const known = dots.current;
        if (known && known.sums === sums && known.grid === grid && known.theme === theme) return known.image;
        const image = known?.image ?? document.createElement("canvas");
        image.width = 2 * grid.columns;
        image.height = rows;
        const ink = image.getContext("2d")!,
            data = ink.createImageData(2 * grid.columns, rows),
            pixels = new Uint32Array(data.data.buffer);
        const read = shadesOf(inks.paper, inks.read, sums?.mostReads ?? 0),
            write = shadesOf(inks.paper, inks.write, sums?.mostWrites ?? 0);
        for (let i = 0; i < rows * grid.columns; i++) {
            const r = sums?.reads[i] ?? 0,
                w = sums?.writes[i] ?? 0;
            pixels[2 * i] = r || !w ? read(r) : write(w);
            pixels[2 * i + 1] = w || !r ? write(w) : read(r);
        }
        ink.putImageData(data, 0, 0);
        dots.current = { image, sums, grid, theme };
        return image;
    };
    const paintCells = ({ context, theme }: Brush) => {
        const inks = inksOf(theme),
            rows = Math.ceil(grid.rows / grid.merge),
            { cellWidth: cw, cellHeight: ch } = grid;
        const big = cw >= 5 && ch >= 5,
            pad = big ? 1 * unit : 0;
        if (!big) {
            context.imageSmoothingEnabled = false;
            context.drawImage(dotsOf(theme, inks, rows), left, top, grid.columns * cw, rows * ch);
            return;
        }
        for (let row = 0; row < rows; row++)
            for (let column = 0; column < grid.columns; column++) {
                if (!bytesOf(grid, { column, row })) break;
                const i = row * grid.columns + column,
                    x = left + column * cw,
                    y = top + row * ch;
                const r = sums ? strength(sums.reads[i], sums.mostReads) : 0,
                    w = sums ? strength(sums.writes[i], sums.mostWrites) : 0;
                context.fillStyle = cssOf(
                    r ? mix(inks.paper, inks.read, r) : w ? mix(inks.paper, inks.write, w) : inks.paper,
                );
                context.fillRect(x, y, cw - pad, ch - pad);
                if (r && w) {
                    context.fillStyle = cssOf(mix(inks.paper, inks.write, w));
                    context.beginPath();
                    context.moveTo(x + cw - pad, y);
                    context.lineTo(x + cw - pad, y + ch - pad);
                    context.lineTo(x, y + ch - pad);
                    context.fill();
                }
            }
    };
    const outline = ({ context, theme, small }: Brush, mark: Mark) => {
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
            const x = left + from * cw,
                y = top + row * ch,
                wide = Math.max(3 * unit, (to - from + 1) * cw - unit),
                tall = Math.max(3 * unit, ch - unit);
            if (cw < 4 || ch < 4)
                context.fillRect(x - unit, y - unit, Math.max(wide, 3 * unit), Math.max(tall, 3 * unit));
            else context.strokeRect(x + unit / 2, y + unit / 2, wide - unit, tall - unit);
            if (mark.label && row === a.row && cw >= 9) {
                context.font = small;
                context.textAlign = "center";
                context.fillRect(x, y, Math.min(cw - unit, 11 * unit), Math.min(ch - unit, 12 * unit));
                context.fillStyle = theme.background;
                context.fillText(
                    mark.label,
                    x + Math.min(cw - unit, 11 * unit) / 2,
                    y + Math.min(ch - unit, 12 * unit) / 2 + 0.5,
                );
                context.textAlign = "left";
            }
        }
    };
    const rulers = ({ context, theme, small }: Brush) => {
        const rows = Math.ceil(grid.rows / grid.merge),
            every = Math.max(1, Math.ceil((14 * unit) / grid.cellHeight));
        context.font = small;
        context.fillStyle = theme.text;
        context.textAlign = "right";
        for (let row = 0; row < rows; row += every)
            context.fillText(
                rowName(row),
                left - 8 * unit,
                top + row * grid.cellHeight + Math.max(grid.cellHeight / 2, 5 * unit),
            );
        context.textAlign = "left";
        const nameOf = (column: number) =>
            shape.kind === "structs"
                ? `+${column * grid.cellBytes}`
                : count((column * grid.cellBytes) / region.element);
        const room = context.measureText(nameOf(grid.columns - 1)).width + 10 * unit,
            least = Math.ceil(room / grid.cellWidth);
        const per =
            shape.kind === "structs"
                ? least
                : ([1, 2, 4, 8, 16, 32, 64, 128, 256, 512].find((step) => step >= least) ?? least);
        for (
            let column = 0;
            column < grid.columns && (column + least) * grid.cellWidth <= Math.max(room, width - left);
            column += per
        )
            context.fillText(nameOf(column), left + column * grid.cellWidth + unit, top - 7 * unit);
    };
    const draw = (brush: Brush) => {
        paintCells(brush);
        rulers(brush);
        const marks = marksOf(model, window.space);
        for (const kind of ["selected", "bytes", "pin", "hover"] as const)
            marks.filter((mark) => mark.kind === kind).forEach((mark) => outline(brush, mark));
        if (drag)
            outline(brush, {
                first: Math.min(drag.from, drag.to),
                last: Math.max(drag.from, drag.to),
                label: "",
                kind: "bytes",
                lane: null,
            });
    };
    const at = (x: number, y: number) =>
        bytesOf(grid, {
            column: Math.floor((x - left) / grid.cellWidth),
            row: Math.floor((y - top) / grid.cellHeight),
        });
    const leave = () => {
        setTip(null);
        if (asked.current) {
            clearTimeout(asked.current.timer);
            asked.current.control.abort();
            asked.current = null;
        }
        if (model.hover.get()?.from === "addresses") model.hover.set(null);
    };
    useEffect(() => leave, [launch.launch]);
    const shown = useRef(-1);
    const move = (x: number, y: number) => {
        const under = at(x, y);
        if (drag) return under && setDrag({ from: drag.from, to: under[0] >= drag.from ? under[1] : under[0] });
        if (!under) return ((shown.current = -1), leave());
        if (shown.current === under[0] && tip) return setTip({ ...tip, x, y });
        shown.current = under[0];
        leave();
        const cell = cellOf(grid, under[0]),
            i = cell.row * grid.columns + cell.column;
        const reads = sums?.reads[i] ?? 0,
            writes = sums?.writes[i] ?? 0,
            size = under[1] - under[0] + 1;
        const name =
            `${addressText(launch, window.space, under[0])}` +
            `${grid.cellBytes > region.element ? ` and on, ${bytes(size * grid.merge)}` : ""}`;
        const told =
            `${hex(under[0])}: ${reads ? `read by ${count(reads)} ${plural(reads, "lane")}` : ""}` +
            `${reads && writes ? ", " : ""}${writes ? `written by ${count(writes)}` : ""}` +
            `${reads || writes ? "" : "not accessed"}`;
        setTip({ x, y, lines: [name, told] });
        const hover = {
            from: "addresses",
            record: null,
            lane: null,
            bytes: { space: window.space, first: under[0], last: under[1] },
            touches: null,
            touchCount: 0,
            text: `${name}, ${told}`,
        };
        model.hover.set(hover);
        if (!reads && !writes) return;
        const control = new AbortController();
        const timer = setTimeout(() => {
            model.source
                .touching(launch.launch, state.filter, window.space, under[0], under[1], TOUCHES, control.signal)
                .then(
                    (found) => {
                        if (control.signal.aborted) return;
                        const who = found.rows
                            .slice(0, 4)
                            .map(
                                (t) =>
                                    `${model.sites.get(t.site)?.operation ?? "access"}: CTA ` +
                                    `${pointText(t.cta, launch.grid)}, warp ${t.warp}, lane ${t.lane}, ` +
                                    `${placeText(model.run, model.sites.get(t.site))}`,
                            );
                        setTip(
                            (old) =>
                                old && {
                                    ...old,
                                    lines: [
                                        name,
                                        told,
                                        ...who,
                                        ...(found.total > who.length
                                            ? [`and ${count(found.total - who.length)} more`]
                                            : []),
                                    ],
                                },
                        );
                        model.hover.set({ ...hover, touches: found.rows, touchCount: found.total });
                    },
                    () => undefined,
                );
        }, ASK_AFTER_MS);
        asked.current = { control, timer };
    };
    const select = (first: number, last: number) => {
        const touches = model.hover.get()?.touches ?? [],
            record = touches.length === 1 ? touches[0] : null;
        model.set({
            bytes: { space: window.space, first, last },
            ...(record ? { record: record.index, lane: record.lane } : {}),
        });
    };
    const touchedCells = sums ? sums.reads.reduce((n, value, i) => n + (value || sums.writes[i] ? 1 : 0), 0) : 0;
    return (
        <>
            <Canvas
                class="grid"
                cursor="crosshair"
                draw={draw}
                redraw={(paint) => model.hover.watch(paint)}
                label={
                    `${region.name}: ${count(grid.columns)} columns by ` +
                    `${count(Math.ceil(grid.rows / grid.merge))} rows of ${count(grid.cellBytes)} B, ` +
                    `${count(touchedCells)} cells touched`
                }
                onMove={move}
                onLeave={() => {
                    shown.current = -1;
                    leave();
                }}
                onDown={(x, y) => {
                    const under = at(x, y);
                    if (under) setDrag({ from: under[0], to: under[1] });
                }}
                onUp={() => {
                    if (drag) select(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
                    setDrag(null);
                }}
                onDouble={() => model.set({ window: { space: region.space, first: region.first, last: region.last } })}
                onKey={(event) => {
                    const asked = zoomOf(event),
                        quantum = quantumOf(grid, shape, region),
                        size = window.last - window.first + 1;
                    if (!asked) return false;
                    const shift =
                        (asked.right + asked.down) * Math.max(quantum, Math.floor(size / 4 / quantum) * quantum);
                    const first = Math.max(region.first, Math.min(window.first + shift, region.last + 1 - size));
                    const [from, to] = asked.all
                        ? [region.first, region.last]
                        : asked.factor !== 1
                          ? zoomed(
                                window.first,
                                window.last,
                                (window.first + window.last) / 2,
                                asked.factor,
                                region,
                                quantum,
                            )
                          : [first, first + size - 1];
                    model.set({ window: { space: region.space, first: from, last: to } });
                    return true;
                }}
                onWheel={(x, y, event) => {
                    event.preventDefault();
                    const under = at(x, y),
                        quantum = quantumOf(grid, shape, region);
                    const [first, last] = zoomed(
                        window.first,
                        window.last,
                        under ? under[0] : (window.first + window.last) / 2,
                        event.deltaY > 0 ? 2 : 0.5,
                        region,
                        quantum,
                    );
                    model.set({ window: { space: region.space, first, last } });
                }}
            />
            {density.error && (
                <div class="over">
                    <Failed answer={density} />
                </div>
            )}
            {grid.last < window.last && (
                <p class="over part soft">
                    first {bytes(grid.last - grid.first + 1)} shown; move the window above to see more
                </p>
            )}
            {tip && (
                <Tip
                    x={tip.x}
                    y={tip.y}
                    width={width}
                    unit={unit}
                    lines={tip.lines}
                    colours={(model.hover.get()?.touches ?? []).slice(0, 4).map((t) => kindOf(model, t.site))}
                />
            )}
        </>
    );
}

export const quantumOf = (grid: Pick<Grid, "pitch">, shape: Shape, region: Region) =>
    shape.kind === "array" ? region.element * 16 : Math.max(1, shape.pitch || grid.pitch);

export function Tip({
    x,
    y,
    width,
    unit,
    lines,
    colours,
}: {
    x: number;
    y: number;
    width: number;
    unit: number;
    lines: string[];
    colours?: string[];
}) {
    return (
        <div
            class="tip"
            style={{ left: `${Math.max(4, Math.min(x + 14, width - 360 * unit))}px`, top: `${y + 16 * unit}px` }}
        >
            {lines.map((line, i) => (
                <div class={i ? "soft" : ""}>
                    {i >= 2 && colours?.[i - 2] && <i class={`dot ${colours[i - 2]}`} />}
                    {line}
                </div>
            ))}
        </div>
    );
}
