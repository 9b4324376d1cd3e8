// What lies under the pointer in the timeline, in words.
import { stepOf, tickText, time } from "./format";
import { chunksIn, intervalsOf, type Chunk, type Intervals } from "./lanes";
import { LABELS, PATH, ROW, rowsOf, timeAt, type Frame } from "./timeline-frame";
import type { Mark } from "./timeline-paint";

export interface Hit {
    text: string;
    to?: Mark; // what a wait is for
}

interface Found {
    intervals: Intervals;
    i: number;
}

// A time with as many digits as tell neighbouring pixels apart.
export const momentOf = ({ from, to, width }: Frame, t: number) => tickText(t, stepOf(to - from, width - LABELS), to);

// As many digits as tell both ends apart.
function spanOf(frame: Frame, { intervals, i }: Found): string {
    const { from, to, width } = frame,
        [a, b] = [intervals.start[i], intervals.end[i]];
    if (b <= a) return `${time(0)}, at ${momentOf(frame, a)}`;
    const step = Math.max(1, Math.min(stepOf(to - from, width - LABELS), b - a));
    return `${time(b - a)}, from ${tickText(a, step, to)} to ${tickText(b, step, to)}`;
}

// The shortest of the intervals at a time, or within a pixel of it.
function intervalAt(
    { scale }: Frame,
    chunks: Chunk[],
    t: number,
    accept: (place: number) => boolean,
    arrived: () => void,
): Found | null {
    const slack = 1 / scale;
    for (const chunk of chunksIn(chunks, t - slack, t + slack)) {
        const intervals = intervalsOf(chunk, arrived);
        if (!intervals) continue;
        const { start, end, place, count } = intervals;
        let best = -1;
        for (let i = 0; i < count && start[i] <= t + slack; i++)
            if (end[i] >= t - slack && accept(place[i]) && (best < 0 || end[i] - start[i] <= end[best] - start[best]))
                best = i;
        if (best >= 0) return { intervals, i: best };
    }
    return null;
}

function waitHit(frame: Frame, wait: Found): Hit {
    const { data } = frame,
        { intervals, i } = wait,
        place = intervals.place[i],
        at = intervals.link[i];
    const text = `${data.patterns[intervals.kind[i]]}: waits ${spanOf(frame, wait)}`;
    if (!place) return { text };
    const who = `, for ${data.locations[place - 1]?.name ?? "?"} at ${momentOf(frame, at)} (click to see)`;
    return { text: text + who, to: { location: place - 1, at } };
}

export function hitAt(frame: Frame, x: number, y: number, arrived: () => void): Hit | null {
    const { data, tops, height } = frame;
    const index = tops.findIndex((top, i) => y >= top && y < (tops[i + 1] ?? height));
    if (index < 0 || x < LABELS) return null;
    const lane = data.locations[index],
        rows = rowsOf(data, index),
        row = Math.floor((y - tops[index] - PATH) / ROW);
    const look = (chunks: Chunk[], accept: (place: number) => boolean = () => true) =>
        intervalAt(frame, chunks, timeAt(frame, x), accept, arrived);
    if (row >= rows) {
        const wait = look(lane.waits.chunks);
        return wait && waitHit(frame, wait);
    }
    if (row < 0) {
        const segment = look(lane.path.chunks);
        return segment && { text: `critical path: stays here for ${spanOf(frame, segment)}` };
    }
    const activity = look(lane.chunks, (place) => Math.min(place, rows - 1) === row);
    if (!activity) return null;
    const kind = data.kinds[activity.intervals.kind[activity.i]];
    return { text: `${kind.name}: ${spanOf(frame, activity)}` };
}
