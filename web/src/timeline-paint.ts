// The timeline on its canvas: activities of each lane, the waits under them, the critical path above.
import { stepOf, tickText } from "./format";
import { BINS, chunksIn, intervalsOf, overviewOf, type Chunk, type Intervals } from "./lanes";
import type { Surface } from "./surface";
import {
    AXIS,
    HEADING,
    LABELS,
    PATH,
    ROW,
    WAITS,
    colourOf,
    isEmpty,
    laneHeight,
    rowsOf,
    startsProcess,
    xOf,
    type Frame,
} from "./timeline-frame";

const APART = 6, // units between lines of the path, on average
    LEAST = 1, // device pixels of a column with anything in it
    CLOSE_UP = 3; // intervals a unit, up to which they are drawn one by one

export interface Mark {
    location: number;
    at: number; // ns
}

export interface Marked {
    found: Set<number> | null; // kinds that stand out
    mark: Mark | null; // what the wait that was clicked waited for
    select: [number, number] | null; // the edges of a range that is being drawn
}

interface Hand extends Surface {
    frame: Frame;
    arrived: () => void; // when a chunk is at hand that was drawn in part
    awaited: number; // chunks drawn in part
}
type PaintOne = (it: Intervals, i: number, chunk: Chunk) => void;
type PaintPart = (a: number, b: number, kind: number, full: number) => void;

// Intervals of chunks in view: whole when few enough, else their overviews.
function drawChunks(hand: Hand, chunks: Chunk[], paint: PaintOne, overview: PaintPart): void {
    const { from, to, scale } = hand.frame;
    for (const chunk of chunksIn(chunks, from, to)) {
        const wide = (chunk.end - chunk.start) * scale;
        const close = chunk.count < wide * CLOSE_UP || chunk.count < 2 * BINS;
        const intervals = close ? intervalsOf(chunk, hand.arrived) : null;
        if (intervals) {
            for (let i = 0; i < intervals.count; i++)
                if (intervals.end[i] >= from && intervals.start[i] <= to) paint(intervals, i, chunk);
        } else {
            if (close) hand.awaited++;
            overviewOf(chunk, overview);
        }
    }
}

// The edges of an interval inside the picture.
const edgesOf = ({ frame, width }: Hand, a: number, b: number) => [
    Math.max(LABELS, xOf(frame, a)),
    Math.min(width, xOf(frame, b)),
];

function drawBar(hand: Hand, a: number, b: number, y: number): void {
    const [left, right] = edgesOf(hand, a, b);
    if (right >= LABELS && left <= hand.width) hand.context.fillRect(left, y, Math.max(right - left, 0.6), ROW - 1);
}

// A part of a bar, from below: as much of it as the time in it.
function drawLevel(hand: Hand, [a, b]: [number, number], y: number, tall: number, full: number): void {
    const [left, right] = edgesOf(hand, a, b);
    if (right > left) hand.context.fillRect(left, y + tall * (1 - full), right - left, tall * full);
}

// Each column of pixels as full as the time in it; what is there at all is seen.
function fillColumns(hand: Hand, chunks: Chunk[], y: number, tall: number, each?: PaintOne): void {
    const { context, width, ratio, frame } = hand,
        columns = new Float64Array(Math.ceil((width - LABELS) * ratio));
    const add = (a: number, b: number, full: number) => {
        const left = Math.max(0, (a - frame.from) * frame.scale * ratio),
            right = Math.min(columns.length, (b - frame.from) * frame.scale * ratio);
        for (let c = Math.floor(left); c < right; c++)
            columns[c] += full * (Math.min(right, c + 1) - Math.max(left, c));
    };
    drawChunks(
        hand,
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
}

function drawAxis({ context, theme, width, height, frame }: Hand): void {
    const { from, to } = frame,
        step = stepOf(to - from, Math.max(2, (width - LABELS) / 110));
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.text;
    context.textAlign = "center";
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        const x = xOf(frame, t);
        context.beginPath();
        context.moveTo(x, AXIS - 4);
        context.lineTo(x, height);
        context.stroke();
        if (x > LABELS + 24 && x < width - 24) context.fillText(tickText(t, step, to), x, 14);
    }
}

function drawLane(hand: Hand, index: number, found: Set<number> | null): void {
    const { context, theme, frame } = hand,
        { data, tops } = frame,
        lane = data.locations[index],
        top = tops[index] + PATH,
        rows = rowsOf(data, index);
    context.globalAlpha = 1;
    context.fillStyle = theme.text;
    context.textAlign = "left";
    if (!isEmpty(lane)) context.fillText(lane.name.slice(0, 24), 14, top + 10);
    if (startsProcess(data, index)) {
        context.fillRect(4, tops[index] - HEADING, LABELS - 12, 1);
        context.fillText(lane.process.slice(0, 26), 6, tops[index] - 3);
    }
    const labels: [number, number, number, string][] = [];
    const ink = (kind: number) => {
        context.globalAlpha = found && !found.has(kind) ? 0.15 : 1;
        context.fillStyle = colourOf(theme, data.kinds[kind]);
    };
    drawChunks(
        hand,
        lane.chunks,
        (it, i) => {
            const [a, b, kind] = [it.start[i], it.end[i], it.kind[i]],
                y = top + Math.min(it.place[i], rows - 1) * ROW;
            ink(kind);
            drawBar(hand, a, b, y);
            const [left, right] = edgesOf(hand, a, b);
            if ((b - a) * frame.scale > 48) labels.push([left, right, y, data.kinds[kind].name]);
        },
        (a, b, kind, full) => {
            ink(kind);
            drawLevel(hand, [a, b], top, rows * ROW - 1, full);
        },
    );
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    for (const [left, right, y, text] of labels) {
        const fits = Math.floor((right - left - 6) / 6.2);
        if (fits >= 3) context.fillText(text.length > fits ? `${text.slice(0, fits - 1)}…` : text, left + 3, y + 10);
    }
    context.fillStyle = theme.alarm;
    fillColumns(hand, lane.waits.chunks, top + rows * ROW, WAITS - 2);
}

// The path: a bar above what it runs through, and a line where it comes over from another lane.
function drawPath(hand: Hand, index: number): void {
    const { context, width, frame } = hand,
        { data, tops, scale } = frame;
    fillColumns(hand, data.locations[index].path.chunks, tops[index], PATH - 1, (it, i, chunk) => {
        if (chunk.count * APART > (chunk.end - chunk.start) * scale) return; // lines would cover the lanes
        const place = it.place[i] - 1,
            x = xOf(frame, it.start[i]);
        if (place < 0 || place === index || tops[place] === undefined || x < LABELS || x > width) return;
        context.beginPath();
        context.moveTo(xOf(frame, it.link[i]), tops[place] + PATH / 2);
        context.lineTo(x, tops[index] + PATH / 2);
        context.stroke();
    });
}

// Draws all of it; returns how many chunks were drawn in part, since they have not arrived.
export function drawTimeline(surface: Surface, frame: Frame, marked: Marked, arrived: () => void): number {
    const hand: Hand = { ...surface, frame, arrived, awaited: 0 },
        { context, theme, width, height } = surface,
        { data, tops } = frame,
        { mark, select } = marked;
    context.clearRect(0, 0, width, height);
    drawAxis(hand);
    data.locations.forEach((lane, index) => {
        if (!isEmpty(lane) || startsProcess(data, index)) drawLane(hand, index, marked.found);
    });
    context.strokeStyle = context.fillStyle = theme.emphasis;
    data.locations.forEach((_, index) => drawPath(hand, index));
    if (mark && tops[mark.location] !== undefined) {
        const x = Math.max(LABELS, xOf(frame, mark.at)) - 5;
        context.strokeStyle = theme.alarm;
        context.lineWidth = 2;
        context.strokeRect(x, tops[mark.location], 10, laneHeight(data, mark.location));
    }
    if (select) {
        context.fillStyle = theme.emphasis;
        context.globalAlpha = 0.2;
        context.fillRect(Math.min(...select), AXIS, Math.abs(select[1] - select[0]), height);
    }
    return hand.awaited;
}
