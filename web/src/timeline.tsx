// The timeline: a lane per thread and stream with its activities, the critical path drawn over them
// and waits under them. Turn the wheel to zoom, drag to move, hold shift and drag to zoom to a
// range; a click on a wait shows who it waited for.
import type { RefObject } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, time } from "./format";
import { placeOf, surfaceOf, useWidth } from "./surface";
import { LABELS, colourOf, isEmpty, lanesOf, timeAt, type Frame, type Kind, type Range } from "./timeline-frame";
import type { TimelineData } from "./timeline-frame";
import { hitAt, momentOf, type Hit } from "./timeline-hit";
import { drawTimeline, type Mark } from "./timeline-paint";
import { useTheme, type Theme } from "./theme";

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

function fromHash(duration: number): Range {
    const found = /t=(\d+)-(\d+)/.exec(location.hash);
    const from = Number(found?.[1]),
        to = Number(found?.[2]);
    return found && from < to && to <= duration ? [from, to] : [0, duration];
}

// The range that is shown, which the address follows and leads: links of this page name one, #t=from-to.
function useRange(canvas: RefObject<HTMLCanvasElement>, data: TimelineData) {
    const [range, setRange] = useState<Range>(() => fromHash(data.duration));
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
        const [from, to] = range,
            hash = from === 0 && to === data.duration ? "#" : `#t=${Math.round(from)}-${Math.round(to)}`;
        const timer = setTimeout(() => history.replaceState(null, "", hash), 200);
        return () => clearTimeout(timer);
    }, [range]);
    const show = (a: number, b: number) => {
        const span = Math.min(Math.max(b - a, 20), data.duration),
            start = Math.max(0, Math.min(a, data.duration - span));
        setRange([start, start + span]);
    };
    return { range, show };
}

interface Held {
    x: number;
    range: Range;
    select: boolean;
    moved: boolean;
}
type Show = (from: number, to: number) => void;

// What the pointer does: it moves the range, draws another one, points at what is drawn, and clicks it.
function usePointer(frame: Frame, theme: Theme, show: Show, arrived: () => void) {
    const { from, to, scale, width } = frame;
    const held = useRef<Held | null>(null);
    const [select, setSelect] = useState<Range | null>(null);
    const [hit, setHit] = useState<{ x: number; y: number; hit: Hit } | null>(null);
    const [mark, setMark] = useState<Mark | null>(null);
    const down = (event: MouseEvent) => {
        held.current = { x: placeOf(event, theme).x, range: [from, to], select: event.shiftKey, moved: false };
    };
    const move = (event: MouseEvent) => {
        const { x, y } = placeOf(event, theme),
            drag = held.current;
        if (drag) {
            drag.moved ||= Math.abs(x - drag.x) > 3;
            if (drag.select) return setSelect([drag.x, x]);
            const shift = ((x - drag.x) / (width - LABELS)) * (drag.range[1] - drag.range[0]);
            return show(drag.range[0] - shift, drag.range[1] - shift);
        }
        const under = hitAt(frame, x, y, arrived);
        setHit(under && { x, y, hit: under });
    };
    const up = (event: MouseEvent) => {
        const drag = held.current;
        held.current = null;
        if (drag?.select && select) {
            const [a, b] = [timeAt(frame, Math.min(...select)), timeAt(frame, Math.max(...select))];
            setSelect(null);
            if (b - a > 4 / scale) show(a, b);
        } else if (drag && !drag.moved) {
            const { x, y } = placeOf(event, theme),
                wait = hitAt(frame, x, y, arrived)?.to;
            setMark(wait ?? null);
            if (wait && (wait.at < from || wait.at > to)) show(wait.at - (to - from) / 2, wait.at + (to - from) / 2);
        }
    };
    const leave = () => {
        held.current = null;
        setSelect(null);
        setHit(null);
    };
    return { select, hit, mark, down, move, up, leave };
}

// Ways to another range than by a drag.
function zoomsOf(frame: Frame, theme: Theme, show: Show) {
    const { data, from, to, width } = frame;
    const all = () => show(0, data.duration);
    const zoom = (factor: number, centre = (from + to) / 2) =>
        show(centre - (centre - from) * factor, centre + (to - centre) * factor);
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            const shift = ((event.deltaX || event.deltaY) / width) * (to - from);
            show(from + shift, to + shift);
        } else {
            const x = Math.max(LABELS, placeOf(event, theme).x);
            zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(frame, x));
        }
    };
    const key = (event: KeyboardEvent) => {
        const fifth = (to - from) / 5;
        if (event.key === "ArrowLeft") show(from - fifth, to - fifth);
        else if (event.key === "ArrowRight") show(from + fifth, to + fifth);
        else if (event.key === "+") zoom(0.6);
        else if (event.key === "-") zoom(1 / 0.6);
        else if (event.key === "Home") all();
        else return;
        event.preventDefault();
    };
    return { all, zoom, wheel, key };
}

// The kinds whose names have the text in them; null: there is no text.
function useSearch({ kinds }: TimelineData) {
    const [search, setSearch] = useState("");
    const found = useMemo(() => {
        const text = search.trim().toLowerCase();
        return text ? new Set(kinds.flatMap((kind, i) => (kind.name.toLowerCase().includes(text) ? [i] : []))) : null;
    }, [search]);
    return { search, setSearch, found };
}

export function Timeline({ data }: { data: TimelineData }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const width = useWidth(canvas, theme, [420, 900, Infinity]);
    const [tick, setTick] = useState(0); // a chunk has arrived
    const arrived = useCallback(() => setTick((n) => n + 1), []);
    const { search, setSearch, found } = useSearch(data);
    const { range, show } = useRange(canvas, data),
        [from, to] = range;
    const lanes = useMemo(() => lanesOf(data), [data]);
    const frame: Frame = { data, ...lanes, width, from, to, scale: (width - LABELS) / (to - from) },
        { height } = frame;
    const { all, zoom, wheel, key } = zoomsOf(frame, theme, show);
    const pointer = usePointer(frame, theme, show, arrived),
        { hit, mark, select } = pointer;

    useEffect(() => {
        const element = canvas.current!;
        const awaited = drawTimeline(surfaceOf(element, theme, width, height), frame, { found, mark, select }, arrived);
        element.dataset.drawn = `${Math.round(from)}-${Math.round(to)} ${width} ${awaited ? "in part" : "whole"}`;
    }, [data, theme, width, range, tick, found, mark, select]);

    const shown = `${time(to - from)} of ${time(data.duration)}`;
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
                <button onClick={() => zoom(0.5)}>zoom in</button>
                <button onClick={() => zoom(2)}>zoom out</button>
                <button onClick={all}>everything</button>
                <span class="soft">
                    {" "}
                    {shown}, from {momentOf(frame, from)}
                </span>
            </p>
            <div class="lanes">
                <canvas
                    ref={canvas}
                    tabIndex={0}
                    style={{ width: `${width * theme.unit}px`, height: `${height * theme.unit}px` }}
                    role="application"
                    aria-label={
                        `Timeline of ${count(data.locations.filter((lane) => !isEmpty(lane)).length)} threads and ` +
                        `streams, ${shown} from ${momentOf(frame, from)}`
                    }
                    aria-description="Keys: plus and minus zoom, arrows move, Home shows everything"
                    onMouseDown={pointer.down}
                    onMouseMove={pointer.move}
                    onMouseUp={pointer.up}
                    onMouseLeave={pointer.leave}
                    onWheel={wheel}
                    onKeyDown={key}
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
            <Legend kinds={data.kinds} theme={theme} />
            <p class="soft">
                Scroll to zoom, drag to move, Shift and drag to zoom to a range. Keys: arrows, + and −; Home shows
                everything. The page address includes the range.
            </p>
        </div>
    );
}

function Legend({ kinds, theme }: { kinds: Kind[]; theme: Theme }) {
    const classes = CLASSES.filter((name) => kinds.some((kind) => kind.class === name));
    return (
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
    );
}
