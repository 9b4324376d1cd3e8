// The timeline strip: launches and copies of every stream. Turn the wheel to zoom, drag to move,
// double click to see all, click a launch to open it. What is too small to see alone is binned: the
// fuller, the busier.
import { useMemo, useRef, useState } from "preact/hooks";
import { shortName, stepOf, tickText, time } from "../format";
import { useAsk } from "./ask";
import { Canvas, fitText, unitOf, type Brush } from "./canvas";
import { useModel } from "./model";
import { zoomOf } from "./keys";
import { inkOn } from "./paint";
import type { TimelineItem } from "./source";

const LABELS = 108,
    AXIS = 17,
    ROW = 18,
    ROWS_SHOWN = 4,
    BINS = 512;

export function TimelineStrip() {
    const model = useModel(),
        { state, run } = model;
    const whole = useAsk("timeline", "whole", (signal) =>
        model.source.timeline(0, Number.MAX_SAFE_INTEGER, BINS, signal),
    );
    const key = state.time ? state.time.map(Math.round).join("-") : null;
    const part = useAsk("timeline", key, (signal) =>
        model.source.timeline(state.time![0], state.time![1], BINS, signal),
    );
    const shown = (state.time && part.data) || whole.data;
    const begin = whole.data?.begin ?? 0,
        end = Math.max(begin + 1, whole.data?.end ?? 1);
    const [from, to] = state.time ?? [begin, end];
    const held = useRef<{ x: number; range: [number, number] } | null>(null);
    const [tip, setTip] = useState<{ x: number; text: string } | null>(null);
    const hits = useRef<{ item: TimelineItem; x: number; wide: number; row: number }[]>([]);
    const rows = shown?.rows ?? [];
    const several = useMemo(() => new Set(rows.map((row) => row.rank)).size > 1, [shown]);
    const unit = unitOf(),
        height = (AXIS + Math.max(1, rows.length) * ROW + 3) * unit;

    const draw = ({ context, width, height: tall, unit: u, theme, font, small }: Brush) => {
        const left = LABELS * u,
            scale = (width - left - 8 * u) / (to - from),
            row = ROW * u;
        const xOf = (t: number) => left + (t - from) * scale;
        hits.current = [];
        context.font = small;
        const step = stepOf(to - from, Math.max(2, (width - left) / (110 * u)));
        context.strokeStyle = theme.grid;
        context.fillStyle = theme.text;
        context.textAlign = "center";
        for (let t = Math.ceil((from - begin) / step) * step + begin; t <= to; t += step) {
            const x = Math.round(xOf(t)) + 0.5;
            context.beginPath();
            context.moveTo(x, AXIS * u - 3 * u);
            context.lineTo(x, tall);
            context.stroke();
            if (x < width - 24 * u) context.fillText(tickText(t - begin, step, to - begin), x, 8 * u);
        }
        rows.forEach((line, i) => {
            const top = AXIS * u + i * row + 2 * u,
                high = row - 4 * u;
            context.textAlign = "left";
            context.font = small;
            context.fillStyle = theme.text;
            context.fillText(
                fitText(
                    context,
                    `${several ? `rank ${line.rank} ` : ""}` +
                        `${run.devices.length > 1 ? `GPU ${line.device} ` : ""}stream ${line.stream}`,
                    left - 16 * u,
                ),
                10 * u,
                top + high / 2,
            );
            context.fillStyle = theme.background;
            context.fillRect(left, top, width - left - 8 * u, high);
            line.bins?.forEach((bin, b) => {
                if (!bin.count) return;
                const wide = (width - left - 8 * u) / line.bins!.length,
                    tallest = Math.max(2, high * Math.min(1, bin.busy));
                context.fillStyle = theme.palette[2]!;
                context.fillRect(left + b * wide, top + high - tallest, Math.ceil(wide), tallest);
            });
            for (const item of line.items ?? []) {
                const a = Math.max(left, xOf(item.start)),
                    b = Math.min(width - 8 * u, xOf(item.end));
                if (b < left || a > width - 8 * u) continue;
                const wide = Math.max(b - a, 2 * u),
                    chosen = item.kind === "launch" && item.id === model.launch.launch;
                context.fillStyle = item.kind === "copy" ? theme.palette[4] : theme.palette[2];
                context.globalAlpha = item.kind === "launch" && !item.recorded ? 0.35 : item.kind === "copy" ? 0.8 : 1;
                context.fillRect(a, top, wide, high);
                context.globalAlpha = 1;
                if (chosen) {
                    context.strokeStyle = theme.emphasis;
                    context.lineWidth = 2 * u;
                    context.strokeRect(a - u, top - u, wide + 2 * u, high + 2 * u);
                    context.lineWidth = 1;
                }
                if (wide > 34 * u) {
                    context.font = font;
                    context.fillStyle = inkOn(theme.palette[item.kind === "copy" ? 4 : 2]);
                    context.fillText(
                        fitText(context, shortName(item.name), wide - 8 * u),
                        a + 4 * u,
                        top + high / 2 + 0.5,
                    );
                }
                hits.current.push({ item, x: a, wide, row: i });
            }
        });
    };
    const range = (a: number, b: number) => {
        const span = Math.min(Math.max(b - a, 10), end - begin),
            start = Math.max(begin, Math.min(a, end - span));
        model.set({ time: span >= end - begin ? null : [start, start + span] });
    };
    const width = useRef(1);
    const timeAt = (x: number) =>
        from + ((x - LABELS * unit) / (width.current - LABELS * unit - 8 * unit)) * (to - from);
    const at = (x: number, y: number) => {
        const row = Math.floor((y - AXIS * unit) / (ROW * unit));
        return (
            [...hits.current].reverse().find((hit) => hit.row === row && x >= hit.x - 1 && x <= hit.x + hit.wide + 1) ??
            null
        );
    };
    const chosen = rows
        .flatMap((row) => row.items ?? [])
        .find((item) => item.kind === "launch" && item.id === model.launch.launch);
    const label =
        `Timeline of ${run.launchCount} launches on ${rows.length} streams` +
        `${chosen ? `; launch ${chosen.id}, ${shortName(chosen.name)}, is open` : ""}`;
    return (
        <div class="strip" style={{ maxHeight: `${(AXIS + ROWS_SHOWN * ROW + 3) * unit}px` }}>
            <Canvas
                label={label}
                height={height}
                cursor={tip ? "pointer" : "grab"}
                draw={(brush) => {
                    width.current = brush.width;
                    draw(brush);
                }}
                onKey={(event) => {
                    const asked = zoomOf(event),
                        span = to - from,
                        middle = (from + to) / 2 + ((asked?.right ?? 0) * span) / 4;
                    if (!asked || asked.down) return false;
                    if (asked.all) model.set({ time: null });
                    else range(middle - (span * asked.factor) / 2, middle + (span * asked.factor) / 2);
                    return true;
                }}
                onWheel={(x, _, event) => {
                    event.preventDefault();
                    const centre = timeAt(x),
                        factor = event.deltaY > 0 ? 1.4 : 1 / 1.4;
                    range(centre - (centre - from) * factor, centre + (to - centre) * factor);
                }}
                onDown={(x) => (held.current = { x, range: [from, to] })}
                onUp={() => (held.current = null)}
                onMove={(x, y) => {
                    if (held.current && state.time) {
                        const shift =
                            ((x - held.current.x) / (width.current - LABELS * unit)) *
                            (held.current.range[1] - held.current.range[0]);
                        return range(held.current.range[0] - shift, held.current.range[1] - shift);
                    }
                    const hit = at(x, y);
                    setTip(
                        hit && {
                            x,
                            text:
                                `${hit.item.kind === "launch" ? `#${hit.item.id} ` : ""}` +
                                `${shortName(hit.item.name)}, ${time(hit.item.end - hit.item.start)}` +
                                (hit.item.kind === "launch" && !hit.item.recorded ? ", accesses not recorded" : ""),
                        },
                    );
                }}
                onLeave={() => setTip(null)}
                onDouble={() => model.set({ time: null })}
                onClick={(x, y) => {
                    const hit = at(x, y);
                    if (hit?.item.kind === "launch" && hit.item.id !== model.launch.launch)
                        model.openLaunch(hit.item.id);
                }}
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
