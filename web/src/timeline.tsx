// The timeline: a lane per thread and stream with its activities, the critical path drawn over them
// and waits under them. Turn the wheel to zoom, drag to move, hold shift and drag to zoom to a
// range; a click on a wait shows who it waited for.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, stepOf, tickText, time } from "./format";
import { BINS, chunksIn, intervalsOf, overviewOf, type Chunk, type Intervals } from "./lanes";
import { useTheme, type Theme } from "./theme";

export interface Kind {
    name: string;
    class: "host" | "mpi" | "api" | "kernel" | "copy" | "synchronise" | "openmp" | "latency" | "other";
}

export interface Location {
    name: string;
    process: string;
    rows: number; // depth of its activities
    chunks: Chunk[];
    path: { chunks: Chunk[] }; // place: the location that the path comes from, plus 1; link: when it left it
    waits: { chunks: Chunk[] }; // kind: a pattern; place: the location waited for, plus 1; link: when it was done
}

export interface TimelineData {
    duration: number; // ns
    kinds: Kind[];
    patterns: string[];
    locations: Location[];
}

interface Hit {
    text: string;
    to?: { location: number; at: number }; // what a wait is for
}

const LABELS = 168,
    AXIS = 26,
    ROW = 13,
    PATH = 5,
    WAITS = 6,
    GAP = 8,
    ROWS_MAX = 5,
    HEADING = 16;
const APART = 6; // pixels between lines of the path, on average
const LEAST = 1; // device pixels of a column with anything in it
const CLOSE_UP = 3; // intervals a pixel, up to which they are drawn one by one
const CLASSES: Kind["class"][] = ["host", "mpi", "api", "synchronise", "kernel", "copy", "openmp", "latency", "other"];
const CLASS_NAMES: Record<Kind["class"], string> = {
    host: "host code",
    mpi: "MPI",
    api: "CUDA calls",
    synchronise: "synchronisation",
    kernel: "kernels",
    copy: "copies",
    openmp: "OpenMP",
    latency: "latency",
    other: "other",
};

function colourOf(theme: Theme, kind: Kind | undefined): string {
    const order: Record<Kind["class"], number> = {
        host: 7,
        mpi: 1,
        api: 0,
        synchronise: 4,
        kernel: 2,
        copy: 3,
        openmp: 5,
        latency: 6,
        other: 7,
    };
    return theme.palette[order[kind?.class ?? "other"] % theme.palette.length];
}

// Round steps of 1, 2 and 5 for the axis.
function fromHash(duration: number): [number, number] {
    const found = /t=(\d+)-(\d+)/.exec(location.hash);
    const from = Number(found?.[1]),
        to = Number(found?.[2]);
    return found && from < to && to <= duration ? [from, to] : [0, duration];
}

const startsProcess = (data: TimelineData, index: number) =>
    index === 0 || data.locations[index - 1].process !== data.locations[index].process;

// Of measurements alone: it has nothing to show in time.
const isEmpty = ({ rows, chunks, path, waits }: Location) =>
    !rows && !chunks.length && !path.chunks.length && !waits.chunks.length;

export function Timeline({ data }: { data: TimelineData }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const [range, setRange] = useState<[number, number]>(() => fromHash(data.duration));
    const [width, setWidth] = useState(900);
    const [tick, setTick] = useState(0); // a chunk has arrived
    const [hit, setHit] = useState<{ x: number; y: number; hit: Hit } | null>(null);
    const [mark, setMark] = useState<{ location: number; at: number } | null>(null);
    const [search, setSearch] = useState("");
    const drag = useRef<{ x: number; range: [number, number]; select: boolean; moved: boolean } | null>(null);
    const [select, setSelect] = useState<[number, number] | null>(null);
    const arrived = useCallback(() => setTick((n) => n + 1), []);
    const found = useMemo(() => {
        const text = search.trim().toLowerCase();
        return text
            ? new Set(data.kinds.flatMap((kind, i) => (kind.name.toLowerCase().includes(text) ? [i] : [])))
            : null;
    }, [search]);

    // Where each lane stands; the name of a process is above its first one.
    const tops = useMemo(() => {
        let y = AXIS;
        return data.locations.map((lane, index) => {
            if (startsProcess(data, index)) y += HEADING;
            const top = y;
            if (isEmpty(lane)) return top;
            y += PATH + Math.min(lane.rows, ROWS_MAX) * ROW + WAITS + GAP;
            return top;
        });
    }, [data]);
    const rowsOf = (i: number) => Math.min(data.locations[i].rows, ROWS_MAX);
    const height =
        (tops.length
            ? tops[tops.length - 1] +
              (isEmpty(data.locations[tops.length - 1]) ? 0 : PATH + rowsOf(tops.length - 1) * ROW + WAITS + GAP)
            : AXIS) + 4;
    const [from, to] = range,
        scale = (width - LABELS) / (to - from);
    const xOf = (t: number) => LABELS + (t - from) * scale;
    const timeAt = (x: number) => from + (x - LABELS) / scale;

    const show = (a: number, b: number) => {
        const span = Math.min(Math.max(b - a, 20), data.duration),
            start = Math.max(0, Math.min(a, data.duration - span));
        setRange([start, start + span]);
    };

    useEffect(() => {
        const element = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() => setWidth(Math.max(420, element.clientWidth / theme.unit)));
        observer.observe(element);
        return () => observer.disconnect();
    }, [theme.unit]);
    // Links of this page name a range: #t=from-to.
    useEffect(() => {
        const come = () => canvas.current?.closest(".timeline")?.scrollIntoView({ block: "nearest" });
        const follow = () => {
            setRange(fromHash(data.duration));
            come();
        };
        if (/t=\d/.test(location.hash)) requestAnimationFrame(come);
        addEventListener("hashchange", follow);
        return () => removeEventListener("hashchange", follow);
    }, [data]);
    useEffect(() => {
        const timer = setTimeout(
            () =>
                history.replaceState(
                    null,
                    "",
                    from === 0 && to === data.duration ? "#" : `#t=${Math.round(from)}-${Math.round(to)}`,
                ),
            200,
        );
        return () => clearTimeout(timer);
    }, [range]);

    useEffect(() => {
        const element = canvas.current!,
            ratio = (devicePixelRatio || 1) * theme.unit;
        element.width = width * ratio;
        element.height = height * ratio;
        const context = element.getContext("2d")!;
        context.scale(ratio, ratio);
        context.clearRect(0, 0, width, height);
        context.font = theme.plainFont;

        // Intervals of chunks in view: whole when few enough, else their overviews.
        let awaited = 0;
        const draw = (
            chunks: Chunk[],
            paint: (it: Intervals, i: number, chunk: Chunk) => void,
            overview: (a: number, b: number, kind: number, full: number) => void,
        ) => {
            for (const chunk of chunksIn(chunks, from, to)) {
                const wide = (chunk.end - chunk.start) * scale;
                const close = chunk.count < wide * CLOSE_UP || chunk.count < 2 * BINS;
                const intervals = close ? intervalsOf(chunk, arrived) : null;
                if (intervals) {
                    for (let i = 0; i < intervals.count; i++)
                        if (intervals.end[i] >= from && intervals.start[i] <= to) paint(intervals, i, chunk);
                } else {
                    if (close) awaited++;
                    overviewOf(chunk, overview);
                }
            }
        };
        const bar = (a: number, b: number, y: number, tall: number) => {
            const left = Math.max(LABELS, xOf(a)),
                right = Math.min(width, xOf(b));
            if (right >= LABELS && left <= width) context.fillRect(left, y, Math.max(right - left, 0.6), tall);
        };
        // A part of a bar, from below: as much of it as the time in it.
        const level = (a: number, b: number, y: number, tall: number, full: number) => {
            const left = Math.max(LABELS, xOf(a)),
                right = Math.min(width, xOf(b));
            if (right > left) context.fillRect(left, y + tall * (1 - full), right - left, tall * full);
        };
        // Each column of pixels as full as the time in it; what is there at all is seen.
        const fill = (
            chunks: Chunk[],
            y: number,
            tall: number,
            each?: (it: Intervals, i: number, chunk: Chunk) => void,
        ) => {
            const columns = new Float64Array(Math.ceil((width - LABELS) * ratio));
            const add = (a: number, b: number, full: number) => {
                const left = Math.max(0, (a - from) * scale * ratio),
                    right = Math.min(columns.length, (b - from) * scale * ratio);
                for (let c = Math.floor(left); c < right; c++)
                    columns[c] += full * (Math.min(right, c + 1) - Math.max(left, c));
            };
            draw(
                chunks,
                (it, i, chunk) => {
                    // The rest is another chunk's.
                    add(Math.max(it.start[i], chunk.start), Math.min(it.end[i], chunk.end), 1);
                    each?.(it, i, chunk);
                },
                (a, b, _, full) => add(a, b, full),
            );
            columns.forEach((full, c) => {
                const high = full > 0 ? Math.max(LEAST / ratio, Math.min(1, full) * tall) : 0;
                if (high) context.fillRect(LABELS + c / ratio, y + tall - high, 1 / ratio, high);
            });
        };

        // The axis
        const step = stepOf(to - from, Math.max(2, (width - LABELS) / 110));
        context.strokeStyle = theme.grid;
        context.fillStyle = theme.text;
        context.textAlign = "center";
        for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
            context.beginPath();
            context.moveTo(xOf(t), AXIS - 4);
            context.lineTo(xOf(t), height);
            context.stroke();
            if (xOf(t) > LABELS + 24 && xOf(t) < width - 24) context.fillText(tickText(t, step, to), xOf(t), 14);
        }

        data.locations.forEach((lane, index) => {
            if (isEmpty(lane) && !startsProcess(data, index)) return;
            const top = tops[index] + PATH,
                rows = rowsOf(index);
            context.globalAlpha = 1;
            context.fillStyle = theme.text;
            context.textAlign = "left";
            if (!isEmpty(lane)) context.fillText(lane.name.slice(0, 24), 14, top + 10);
            if (startsProcess(data, index)) {
                context.fillRect(4, tops[index] - HEADING, LABELS - 12, 1);
                context.fillText(lane.process.slice(0, 26), 6, tops[index] - 3);
            }
            const alpha = (kind: number) => (found && !found.has(kind) ? 0.15 : 1);
            const labels: [number, number, number, string][] = [];
            draw(
                lane.chunks,
                (it, i) => {
                    const a = it.start[i],
                        b = it.end[i],
                        kind = it.kind[i],
                        row = Math.min(it.place[i], rows - 1);
                    context.globalAlpha = alpha(kind);
                    context.fillStyle = colourOf(theme, data.kinds[kind]);
                    bar(a, b, top + row * ROW, ROW - 1);
                    if ((b - a) * scale > 48)
                        labels.push([
                            Math.max(xOf(a), LABELS),
                            Math.min(xOf(b), width),
                            top + row * ROW,
                            data.kinds[kind].name,
                        ]);
                },
                (a, b, kind, full) => {
                    context.globalAlpha = alpha(kind);
                    context.fillStyle = colourOf(theme, data.kinds[kind]);
                    level(a, b, top, rows * ROW - 1, full);
                },
            );
            context.globalAlpha = 1;
            context.fillStyle = theme.background;
            for (const [left, right, y, text] of labels) {
                const fits = Math.floor((right - left - 6) / 6.2);
                if (fits >= 3)
                    context.fillText(text.length > fits ? `${text.slice(0, fits - 1)}…` : text, left + 3, y + 10);
            }
            context.fillStyle = theme.alarm;
            fill(lane.waits.chunks, top + rows * ROW, WAITS - 2);
        });

        // The path: a bar above what it runs through, and a line where it comes over from another lane.
        context.strokeStyle = context.fillStyle = theme.emphasis;
        data.locations.forEach((lane, index) =>
            fill(lane.path.chunks, tops[index], PATH - 1, (it, i, chunk) => {
                if (chunk.count * APART > (chunk.end - chunk.start) * scale) return; // lines would cover the lanes
                const place = it.place[i] - 1,
                    x = xOf(it.start[i]);
                if (place < 0 || place === index || tops[place] === undefined || x < LABELS || x > width) return;
                context.beginPath();
                context.moveTo(xOf(it.link[i]), tops[place] + PATH / 2);
                context.lineTo(x, tops[index] + PATH / 2);
                context.stroke();
            }),
        );
        element.dataset.drawn = `${Math.round(from)}-${Math.round(to)} ${width} ${awaited ? "in part" : "whole"}`;

        if (mark && tops[mark.location] !== undefined) {
            context.strokeStyle = theme.alarm;
            context.lineWidth = 2;
            context.strokeRect(
                Math.max(LABELS, xOf(mark.at)) - 5,
                tops[mark.location],
                10,
                PATH + rowsOf(mark.location) * ROW + WAITS,
            );
        }
        if (select) {
            context.fillStyle = theme.emphasis;
            context.globalAlpha = 0.2;
            context.fillRect(Math.min(...select), AXIS, Math.abs(select[1] - select[0]), height);
        }
    }, [data, theme, width, range, tick, found, mark, select]);

    // A time with as many digits as tell neighbouring pixels apart.
    const moment = (t: number) => tickText(t, stepOf(to - from, width - LABELS), to);

    // What lies under the pointer.
    const at = (x: number, y: number): Hit | null => {
        const index = tops.findIndex((top, i) => y >= top && y < (tops[i + 1] ?? height));
        if (index < 0 || x < LABELS) return null;
        const lane = data.locations[index],
            t = timeAt(x),
            slack = 1 / scale,
            row = Math.floor((y - tops[index] - PATH) / ROW);
        const look = (chunks: Chunk[], accept: (place: number) => boolean) => {
            for (const chunk of chunksIn(chunks, t - slack, t + slack)) {
                const intervals = intervalsOf(chunk, arrived);
                if (!intervals) continue;
                let best = -1;
                for (let i = 0; i < intervals.count && intervals.start[i] <= t + slack; i++)
                    if (
                        intervals.end[i] >= t - slack &&
                        accept(intervals.place[i]) &&
                        (best < 0 ||
                            intervals.end[i] - intervals.start[i] <= intervals.end[best] - intervals.start[best])
                    )
                        best = i;
                if (best >= 0) return { intervals, i: best };
            }
            return null;
        };
        // As many digits as tell both ends apart.
        const span = (a: number, b: number) => {
            const step = Math.max(1, Math.min(stepOf(to - from, width - LABELS), b - a));
            return b > a
                ? `${time(b - a)}, from ${tickText(a, step, to)} to ${tickText(b, step, to)}`
                : `${time(0)}, at ${moment(a)}`;
        };
        if (row >= rowsOf(index)) {
            const wait = look(lane.waits.chunks, () => true);
            if (!wait) return null;
            const place = wait.intervals.place[wait.i];
            const who = place
                ? `, for ${data.locations[place - 1]?.name ?? "?"} at ` +
                  `${moment(wait.intervals.link[wait.i])} (click to see)`
                : "";
            return {
                text:
                    `${data.patterns[wait.intervals.kind[wait.i]]}: waits ` +
                    `${span(wait.intervals.start[wait.i], wait.intervals.end[wait.i])}${who}`,
                ...(place ? { to: { location: place - 1, at: wait.intervals.link[wait.i] } } : {}),
            };
        }
        if (row < 0) {
            const segment = look(lane.path.chunks, () => true);
            return (
                segment && {
                    text:
                        "critical path: stays here for " +
                        `${span(segment.intervals.start[segment.i], segment.intervals.end[segment.i])}`,
                }
            );
        }
        const activity = look(lane.chunks, (place) => Math.min(place, rowsOf(index) - 1) === row);
        return (
            activity && {
                text:
                    `${data.kinds[activity.intervals.kind[activity.i]].name}: ` +
                    `${span(activity.intervals.start[activity.i], activity.intervals.end[activity.i])}`,
            }
        );
    };

    const move = (event: MouseEvent) => {
        const held = drag.current;
        if (held) {
            held.moved ||= Math.abs(event.offsetX / theme.unit - held.x) > 3;
            if (held.select) return setSelect([held.x, event.offsetX / theme.unit]);
            const shift = ((event.offsetX / theme.unit - held.x) / (width - LABELS)) * (held.range[1] - held.range[0]);
            return show(held.range[0] - shift, held.range[1] - shift);
        }
        const under = at(event.offsetX / theme.unit, event.offsetY / theme.unit);
        setHit(under && { x: event.offsetX / theme.unit, y: event.offsetY / theme.unit, hit: under });
    };
    const up = (event: MouseEvent) => {
        const held = drag.current;
        drag.current = null;
        if (held?.select && select) {
            const [a, b] = [timeAt(Math.min(...select)), timeAt(Math.max(...select))];
            setSelect(null);
            if (b - a > 4 / scale) show(a, b);
        } else if (held && !held.moved) {
            const under = at(event.offsetX / theme.unit, event.offsetY / theme.unit);
            setMark(under?.to ?? null);
            if (under?.to && (under.to.at < from || under.to.at > to))
                show(under.to.at - (to - from) / 2, under.to.at + (to - from) / 2);
        }
    };
    const zoom = (factor: number, centre: number) =>
        show(centre - (centre - from) * factor, centre + (to - centre) * factor);
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            const shift = ((event.deltaX || event.deltaY) / width) * (to - from);
            show(from + shift, to + shift);
        } else zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(Math.max(LABELS, event.offsetX / theme.unit)));
    };
    const key = (event: KeyboardEvent) => {
        const span = to - from,
            centre = (from + to) / 2;
        if (event.key === "ArrowLeft") show(from - span / 5, to - span / 5);
        else if (event.key === "ArrowRight") show(from + span / 5, to + span / 5);
        else if (event.key === "+") zoom(0.6, centre);
        else if (event.key === "-") zoom(1 / 0.6, centre);
        else if (event.key === "Home") show(0, data.duration);
        else return;
        event.preventDefault();
    };
    const lanes = data.locations.filter((lane) => !isEmpty(lane)).length;
    const classes = CLASSES.filter((name) => data.kinds.some((kind) => kind.class === name));
    return (
        <div class="timeline">
            <p class="tools">
                <input
                    type="search"
                    placeholder="find an activity"
                    aria-label="find an activity"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                />
                <button onClick={() => zoom(0.5, (from + to) / 2)}>zoom in</button>
                <button onClick={() => zoom(2, (from + to) / 2)}>zoom out</button>
                <button onClick={() => show(0, data.duration)}>everything</button>
                <span class="soft">
                    {" "}
                    {time(to - from)} of {time(data.duration)}, from {moment(from)}
                </span>
            </p>
            <div class="lanes">
                <canvas
                    ref={canvas}
                    tabIndex={0}
                    style={{ width: `${width * theme.unit}px`, height: `${height * theme.unit}px` }}
                    role="application"
                    aria-label={
                        `Timeline of ${count(lanes)} threads and streams, ${time(to - from)} of ` +
                        `${time(data.duration)} from ${moment(from)}`
                    }
                    aria-description="Keys: plus and minus zoom, arrows move, Home shows everything"
                    onMouseDown={(event) => {
                        drag.current = { x: event.offsetX / theme.unit, range, select: event.shiftKey, moved: false };
                    }}
                    onMouseMove={move}
                    onMouseUp={up}
                    onWheel={wheel}
                    onKeyDown={key}
                    onMouseLeave={() => {
                        drag.current = null;
                        setSelect(null);
                        setHit(null);
                    }}
                />
                {hit && (
                    <div
                        class="tip"
                        style={{
                            left: `${Math.min(hit.x + 12, width - 260) * theme.unit}px`,
                            top: `${(hit.y + 16) * theme.unit}px`,
                        }}
                    >
                        {hit.hit.text}
                    </div>
                )}
            </div>
            <p class="scale">
                {classes.map((name) => (
                    <span>
                        <i style={{ background: colourOf(theme, { name, class: name }) }} /> {CLASS_NAMES[name]}{" "}
                    </span>
                ))}
                <span>
                    <i style={{ background: theme.emphasis }} /> critical path{" "}
                </span>
                <span>
                    <i style={{ background: theme.alarm }} /> waits{" "}
                </span>
            </p>
            <p class="soft">
                Scroll to zoom, drag to move, Shift and drag to zoom to a range. Keys: arrows, + and −; Home shows
                everything. The page address includes the range.
            </p>
        </div>
    );
}
