// The timeline strip: launches and copies of every stream. Turn the wheel to zoom, drag to move, double click to see
// all, click a launch to open it. What is too small to see alone is a block, or binned: the fuller, the busier.
import { useMemo, useRef, useState } from "preact/hooks";
import { counted, shortName, stepOf, tickText } from "../format";
import { useAsk } from "./ask";
import { Canvas, unitOf, type Brush } from "./canvas";
import { fitText } from "./fit-text";
import { zoomOf } from "./keys";
import { useModel } from "./model";
import { inkOn } from "./paint";
import { kernelName } from "./places";
import { binText, blocksOf, launchAt, type Block, type Scale } from "./strip-layout";
import type { TimelineRow } from "./source";

const LABELS = 108,
    AXIS = 17,
    ROW = 18,
    RIGHT = 8,
    ROWS_SHOWN = 4,
    BINS = 512;

// The part of the run that is shown.
interface Span {
    begin: number;
    end: number;
    from: number;
    to: number;
}

interface Painted {
    rows: TimelineRow[];
    span: Span;
    open: number; // the launch that is shown
    nameOf: (row: TimelineRow) => string;
}

function scaleOf({ from, to }: Span, width: number, unit: number): Scale {
    const left = LABELS * unit,
        right = width - RIGHT * unit;
    return { xOf: (t) => left + ((t - from) * (right - left)) / (to - from), left, right, least: 2 * unit };
}

function paintAxis({ context, width, height, unit, theme, small }: Brush, span: Span) {
    const { begin, from, to } = span,
        { xOf, left } = scaleOf(span, width, unit);
    const step = stepOf(to - from, Math.max(2, (width - left) / (110 * unit)));
    context.font = small;
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.text;
    context.textAlign = "center";
    for (let t = Math.ceil((from - begin) / step) * step + begin; t <= to; t += step) {
        const x = Math.round(xOf(t)) + 0.5;
        context.beginPath();
        context.moveTo(x, (AXIS - 3) * unit);
        context.lineTo(x, height);
        context.stroke();
        if (x < width - 24 * unit) context.fillText(tickText(t - begin, step, to - begin), x, 8 * unit);
    }
}

function paintBins({ context, theme, unit }: Brush, row: TimelineRow, scale: Scale, top: number, high: number) {
    const bins = row.bins ?? [],
        wide = (scale.right - scale.left) / bins.length;
    context.fillStyle = theme.palette[2]!;
    bins.forEach((bin, b) => {
        if (!bin.count && !bin.busy) return;
        const tall = Math.max(2 * unit, high * Math.min(1, bin.busy));
        context.fillRect(scale.left + b * wide, top + high - tall, Math.ceil(wide), tall);
    });
}

function paintBlock({ context, theme, unit, font }: Brush, block: Block, open: number, top: number, high: number) {
    const [first] = block.items,
        { x, wide } = block;
    const isCopy = block.items.every((item) => item.kind === "copy"),
        isUnrecorded = !isCopy && block.items.every((item) => item.kind === "copy" || !item.recorded),
        colour = theme.palette[isCopy ? 4 : 2];
    context.fillStyle = colour;
    context.globalAlpha = isUnrecorded ? 0.35 : isCopy ? 0.8 : 1;
    context.fillRect(x, top, wide, high);
    context.globalAlpha = 1;
    if (block.items.some((item) => item.kind === "launch" && item.id === open)) {
        context.strokeStyle = theme.emphasis;
        context.lineWidth = 2 * unit;
        context.strokeRect(x - unit, top - unit, wide + 2 * unit, high + 2 * unit);
        context.lineWidth = 1;
    }
    if (wide <= 34 * unit) return;
    const name = block.items.length > 1 ? `${block.items.length} activities` : shortName(first.name);
    context.font = font;
    context.textAlign = "left";
    context.fillStyle = isUnrecorded ? theme.text : inkOn(colour);
    context.fillText(fitText(context, name, wide - 8 * unit), x + 4 * unit, top + high / 2 + 0.5);
}

// Draws all, and returns what lies where.
function paint(brush: Brush, { rows, span, open, nameOf }: Painted): Block[] {
    const { context, width, unit, theme, small } = brush,
        scale = scaleOf(span, width, unit),
        high = (ROW - 4) * unit;
    paintAxis(brush, span);
    return rows.flatMap((row, i) => {
        const top = (AXIS + i * ROW + 2) * unit;
        context.textAlign = "left";
        context.font = small;
        context.fillStyle = theme.text;
        context.fillText(fitText(context, nameOf(row), scale.left - 16 * unit), 10 * unit, top + high / 2);
        context.fillStyle = theme.background;
        context.fillRect(scale.left, top, scale.right - scale.left, high);
        paintBins(brush, row, scale, top, high);
        const blocks = blocksOf(row.items ?? [], i, scale);
        for (const block of blocks) paintBlock(brush, block, open, top, high);
        return blocks;
    });
}

// The whole run, and the part of it that the state shows.
function useTimeline() {
    const { source, state } = useModel();
    const whole = useAsk("timeline", "whole", (signal) => source.timeline(0, Number.MAX_SAFE_INTEGER, BINS, signal));
    const key = state.time ? state.time.map(Math.round).join("-") : null;
    const part = useAsk("timeline", key, (signal) => source.timeline(state.time![0], state.time![1], BINS, signal));
    const begin = whole.data?.begin ?? 0,
        end = Math.max(begin + 1, whole.data?.end ?? 1);
    const [from, to] = state.time ?? [begin, end];
    const rows = ((state.time && part.data) || whole.data)?.rows ?? [];
    return { rows, span: { begin, end, from, to } };
}

// What a person does with the strip, in times.
function useMoves(span: Span, width: { current: number }) {
    const model = useModel(),
        { begin, end, from, to } = span;
    const show = (a: number, b: number) => {
        const wide = Math.min(Math.max(b - a, 10), end - begin),
            start = Math.max(begin, Math.min(a, end - wide));
        model.set({ time: wide >= end - begin ? null : [start, start + wide] });
    };
    const inner = () => width.current - (LABELS + RIGHT) * unitOf();
    return {
        show,
        key(event: KeyboardEvent): boolean {
            const asked = zoomOf(event),
                wide = to - from,
                middle = (from + to) / 2 + ((asked?.right ?? 0) * wide) / 4;
            if (!asked || asked.down) return false;
            if (asked.all) model.set({ time: null });
            else show(middle - (wide * asked.factor) / 2, middle + (wide * asked.factor) / 2);
            return true;
        },
        wheel(x: number, event: WheelEvent): void {
            event.preventDefault();
            const centre = from + ((x - LABELS * unitOf()) / inner()) * (to - from),
                factor = event.deltaY > 0 ? 1.4 : 1 / 1.4;
            show(centre - (centre - from) * factor, centre + (to - centre) * factor);
        },
        drag(pixels: number, [a, b]: [number, number]): void {
            const shift = (pixels / inner()) * (b - a);
            show(a - shift, b - shift);
        },
    };
}

export function TimelineStrip() {
    const model = useModel(),
        { state, run } = model,
        { rows, span } = useTimeline();
    const held = useRef<{ x: number; range: [number, number] } | null>(null),
        width = useRef(1),
        blocks = useRef<Block[]>([]);
    const [tip, setTip] = useState<{ x: number; text: string } | null>(null);
    const moves = useMoves(span, width),
        several = useMemo(() => new Set(rows.map((row) => row.rank)).size > 1, [rows]);
    const unit = unitOf(),
        scale = () => scaleOf(span, width.current, unit);
    const nameOf = (row: TimelineRow) =>
        (several ? `rank ${row.rank} ` : "") + (run.streams[row.stream]?.name ?? "unknown stream").replace(/^the /, "");
    const rowAt = (y: number) => Math.floor((y - AXIS * unit) / (ROW * unit));
    const blockAt = (x: number, y: number) =>
        blocks.current.filter((it) => it.row === rowAt(y) && x >= it.x - 1 && x <= it.x + it.wide + 1).pop() ?? null;
    const textAt = (x: number, y: number): string => {
        const row = rows[rowAt(y)],
            { left, right } = scale();
        if (!row?.bins || x < left || x >= right) return blockAt(x, y)?.text ?? "";
        const bin = Math.floor(((x - left) / (right - left)) * row.bins.length);
        return binText(row, bin, (kernel) => kernelName(run, kernel));
    };
    const chosen = rows
        .flatMap((row) => row.items ?? [])
        .find((item) => item.kind === "launch" && item.id === model.launch.launch);
    const label =
        `Timeline of ${counted(run.launchCount, "launch", "launches")} ` +
        `on ${counted(rows.length, "stream", "streams")}` +
        `${chosen ? `; launch ${chosen.id}, ${shortName(chosen.name)}, is open` : ""}`;
    const open = (x: number, y: number) => {
        const block = blockAt(x, y),
            launch = block && launchAt(block, x, scale());
        if (launch && launch.id !== model.launch.launch) model.openLaunch(launch.id);
    };
    return (
        <div class="strip" style={{ maxHeight: `${(AXIS + ROWS_SHOWN * ROW + 3) * unit}px` }}>
            <Canvas
                label={label}
                height={(AXIS + Math.max(1, rows.length) * ROW + 3) * unit}
                cursor={tip ? "pointer" : "grab"}
                draw={(brush) => {
                    width.current = brush.width;
                    blocks.current = paint(brush, { rows, span, open: model.launch.launch, nameOf });
                }}
                onKey={moves.key}
                onWheel={(x, _, event) => moves.wheel(x, event)}
                onDown={(x) => (held.current = { x, range: [span.from, span.to] })}
                onUp={() => (held.current = null)}
                onMove={(x, y) => {
                    if (held.current && state.time) return moves.drag(x - held.current.x, held.current.range);
                    const text = textAt(x, y);
                    setTip(text ? { x, text } : null);
                }}
                onLeave={() => setTip(null)}
                onDouble={() => model.set({ time: null })}
                onClick={open}
            />
            {state.time && (
                <button class="whole-time" onClick={() => model.set({ time: null })}>
                    show all
                </button>
            )}
            {tip && (
                <div
                    class="tip"
                    style={{
                        left: `${Math.min(tip.x, Math.max(0, width.current - 340 * unit))}px`,
                        top: `${2 * unit}px`,
                    }}
                >
                    {tip.text}
                </div>
            )}
        </div>
    );
}
