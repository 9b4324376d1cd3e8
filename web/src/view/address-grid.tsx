// A piece of memory, cell by cell: reads blue, writes orange, both violet, stronger the more there were.
// Lanes that are pointed at, selected or pinned are outlined over it; cells that are pointed at ask who
// touched them. Wheel: zoom. Drag: select bytes. Click: select a cell's bytes. Double click: all again.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, counted } from "../format";
import { TOP, paintCells, paintMark, paintRulers, sumsOf, type Dots, type Scene, type Sums } from "./address-paint";
import { useAsk, type Answer } from "./ask";
import { Canvas, type Brush } from "./canvas";
import { bytesOf, cellOf, gridOf, zoomed, type Grid } from "./grid-layout";
import { zoomOf } from "./keys";
import { kindOf, marksOf, useModel, type Hover, type Model } from "./model";
import { Failed } from "./parts";
import { addressText, placeText, pointText } from "./places";
import type { Allocation, Density, Touch } from "./source";
import { hex, type Range, type Shape } from "./state";

export interface Region extends Range {
    name: string;
    element: number; // bytes
    allocation: Allocation | null; // of shared memory a variable
}
const TOUCHES = 256,
    TOLD = 4,
    ASK_AFTER_MS = 50;

export interface Picture {
    grid: Grid;
    gutter: number;
    density: Answer<Density[]>;
    sums: Sums | null;
}
// What is shown, and how.
export interface Shown {
    region: Region;
    window: Range;
    shape: Shape;
}

// How the window lies on a place of such a size, and what was read and written there.
export function usePicture(shown: Shown | null, width: number, height: number, unit: number): Picture | null {
    const model = useModel(),
        { launch, state } = model,
        window = shown?.window,
        { region, shape } = shown ?? {};
    // Room for the longest name of a row.
    const rowBytes = !shown ? 1 : shown.shape.kind === "array" ? shown.region.element : Math.max(1, shown.shape.pitch);
    const longest = shown ? Math.floor((shown.window.last - shown.region.first) / rowBytes) : 0;
    const gutter = Math.max(44, 22 + 7 * count(longest).length + (shape?.kind === "matrix" ? 20 : 0));
    const grid = useMemo(
        () =>
            shown && width
                ? gridOf(shown.window.first, shown.window.last, shown.shape, shown.region.element, {
                      width: Math.max(80, width - (gutter + 10) * unit),
                      height: Math.max(40, height - (TOP + 4) * unit),
                      unit,
                  })
                : null,
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
    const sums = useMemo(() => (grid && density.data ? sumsOf(grid, density.data) : null), [density.data, grid]);
    return grid && { grid, gutter, density, sums };
}

interface TipAt {
    x: number;
    y: number;
    lines: string[];
}

function touchText(model: Model, t: Touch): string {
    const site = model.sites.get(t.site);
    return (
        `${site?.operation ?? "access"}: CTA ${pointText(t.cta, model.launch.grid)}, warp ${t.warp}, lane ${t.lane}, ` +
        placeText(model.run, site)
    );
}

// What the pointer is at, as a tip and for the other views: at once how often the cell was touched, soon by whom.
function useTouches({ region, window }: Shown, { grid, sums }: Picture) {
    const model = useModel(),
        { launch, state } = model;
    const [tip, setTip] = useState<TipAt | null>(null);
    const asked = useRef<{ control: AbortController; timer: number } | null>(null),
        shown = useRef(-1);
    const stop = () => {
        setTip(null);
        if (asked.current) {
            clearTimeout(asked.current.timer);
            asked.current.control.abort();
            asked.current = null;
        }
        if (model.hover.get()?.from === "addresses") model.hover.set(null);
    };
    const leave = () => {
        shown.current = -1;
        stop();
    };
    useEffect(() => stop, [launch.launch]);
    const ask = (under: [number, number], lines: string[], hover: Hover) => {
        const control = new AbortController();
        const told = (found: { total: number; rows: Touch[] }) => {
            if (control.signal.aborted) return;
            const who = found.rows.slice(0, TOLD).map((t) => touchText(model, t));
            if (found.total > who.length) who.push(`and ${count(found.total - who.length)} more`);
            setTip((old) => old && { ...old, lines: [...lines, ...who] });
            model.hover.set({ ...hover, touches: found.rows, touchCount: found.total });
        };
        const timer = setTimeout(() => {
            model.source
                .touching(launch.launch, state.filter, window.space, under[0], under[1], TOUCHES, control.signal)
                .then(told, () => undefined);
        }, ASK_AFTER_MS);
        asked.current = { control, timer };
    };
    const move = (x: number, y: number, under: [number, number] | null) => {
        if (!under) return leave();
        if (shown.current === under[0] && tip) return setTip({ ...tip, x, y });
        stop();
        shown.current = under[0];
        const cell = cellOf(grid, under[0]),
            i = cell.row * grid.columns + cell.column;
        const reads = sums?.reads[i] ?? 0,
            writes = sums?.writes[i] ?? 0,
            size = under[1] - under[0] + 1;
        const name =
            `${addressText(launch, window.space, under[0])}` +
            `${grid.cellBytes > region.element ? ` and on, ${bytes(size * grid.merge)}` : ""}`;
        const told =
            `${hex(under[0])}: ${reads ? `read by ${counted(reads, "lane", "lanes")}` : ""}` +
            `${reads && writes ? ", " : ""}${writes ? `written by ${count(writes)}` : ""}` +
            `${reads || writes ? "" : "not accessed"}`;
        setTip({ x, y, lines: [name, told] });
        const hover: Hover = {
            from: "addresses",
            record: null,
            lane: null,
            bytes: { space: window.space, first: under[0], last: under[1] },
            touches: null,
            touchCount: 0,
            text: `${name}, ${told}`,
        };
        model.hover.set(hover);
        if (reads || writes) ask(under, [name, told], hover);
    };
    return { tip, move, leave };
}

// Another window: after a key or a turn of the wheel.
function useZoom({ region, window, shape }: Shown, grid: Grid) {
    const model = useModel(),
        quantum = quantumOf(grid, shape, region),
        size = window.last - window.first + 1;
    const show = (first: number, last: number) => model.set({ window: { space: region.space, first, last } });
    const around = (byte: number, factor: number) => {
        const [first, last] = zoomed(window, byte, factor, region, quantum);
        show(first, last);
    };
    const onKey = (event: KeyboardEvent): boolean => {
        const asked = zoomOf(event);
        if (!asked) return false;
        const shift = (asked.right + asked.down) * Math.max(quantum, Math.floor(size / 4 / quantum) * quantum);
        const first = Math.max(region.first, Math.min(window.first + shift, region.last + 1 - size));
        if (asked.all) show(region.first, region.last);
        else if (asked.factor !== 1) around((window.first + window.last) / 2, asked.factor);
        else show(first, first + size - 1);
        return true;
    };
    return { onKey, around, all: () => show(region.first, region.last) };
}

export function AddressGrid({
    shown,
    picture,
    width,
    unit,
}: {
    shown: Shown;
    picture: Picture;
    width: number;
    unit: number;
}) {
    const model = useModel(),
        { region, window, shape } = shown,
        { grid, gutter, density, sums } = picture;
    const dots = useRef<Dots | null>(null);
    const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
    const touches = useTouches(shown, picture),
        zoom = useZoom(shown, grid);
    const draw = (brush: Brush) => {
        const scene: Scene = { grid, gutter, shape, region, sums },
            marks = marksOf(model, window.space);
        paintCells(brush, scene, dots);
        paintRulers(brush, scene);
        for (const kind of ["selected", "bytes", "pin", "hover"] as const)
            marks.filter((mark) => mark.kind === kind).forEach((mark) => paintMark(brush, scene, mark));
        if (!drag) return;
        const first = Math.min(drag.from, drag.to),
            last = Math.max(drag.from, drag.to);
        paintMark(brush, scene, { first, last, label: "", kind: "bytes", lane: null });
    };
    const at = (x: number, y: number) =>
        bytesOf(grid, {
            column: Math.floor((x - gutter * unit) / grid.cellWidth),
            row: Math.floor((y - TOP * unit) / grid.cellHeight),
        });
    const select = (first: number, last: number) => {
        const touched = model.hover.get()?.touches ?? [],
            record = touched.length === 1 ? touched[0] : null;
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
                    `${region.name}: ${counted(grid.columns, "column", "columns")} by ` +
                    `${counted(Math.ceil(grid.rows / grid.merge), "row", "rows")} of ${count(grid.cellBytes)} B, ` +
                    `${counted(touchedCells, "cell", "cells")} touched`
                }
                onMove={(x, y) => {
                    const under = at(x, y);
                    if (!drag) touches.move(x, y, under);
                    else if (under) setDrag({ from: drag.from, to: under[0] >= drag.from ? under[1] : under[0] });
                }}
                onLeave={touches.leave}
                onDown={(x, y) => {
                    const under = at(x, y);
                    if (under) setDrag({ from: under[0], to: under[1] });
                }}
                onUp={() => {
                    if (drag) select(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
                    setDrag(null);
                }}
                onDouble={zoom.all}
                onKey={zoom.onKey}
                onWheel={(x, y, event) => {
                    event.preventDefault();
                    zoom.around(at(x, y)?.[0] ?? (window.first + window.last) / 2, event.deltaY > 0 ? 2 : 0.5);
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
            {touches.tip && (
                <Tip
                    {...touches.tip}
                    width={width}
                    unit={unit}
                    colours={(model.hover.get()?.touches ?? []).slice(0, TOLD).map((t) => kindOf(model, t.site))}
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
