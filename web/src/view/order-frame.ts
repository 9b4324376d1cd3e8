// Where the picture of addresses against the order of requests has what: its extent in requests and
// bytes, its strips, and the way from either to pixels and back.
import type { Model } from "./model";
import { allocationName } from "./places";
import type { Space } from "./source";

export const LEFT = 132,
    BOTTOM = 22,
    TOP = 6,
    RIGHT = 10;
const GAP = 6,
    STRIPS = 6,
    LEAST_RECORDS = 8, // of a zoom
    LEAST_BYTES = 64;

export interface Extent {
    from: number; // records
    to: number;
    first: number; // bytes
    last: number;
}

// A part of the picture with addresses of its own.
export interface Strip {
    name: string; // empty: the only one
    first: number;
    last: number;
    top: number; // pixels
    height: number;
}

export interface Frame {
    space: Space;
    whole: Extent;
    view: Extent; // the part that is shown
    strips: Strip[];
    inStrips: boolean; // each allocation has one
    wide: number; // pixels of the picture inside its axes
    tall: number;
    unit: number;
}

export const recordsIn = (view: Extent) => view.to - view.from + 1;
export const bytesIn = (extent: { first: number; last: number }) => extent.last - extent.first + 1;
export const columnsOf = ({ view, wide }: Frame) => Math.max(1, Math.min(recordsIn(view), Math.floor(wide / 2)));
export const rowsOf = (strip: Strip) => Math.max(1, Math.min(bytesIn(strip), Math.floor(strip.height / 2)));

// A strip per allocation, or null where one alone shows more.
export function stripsOf({ launch }: Model, space: Space, tall: number, unit: number): Strip[] | null {
    const touched = space === "global" ? launch.allocations.filter((a) => a.touched) : [];
    if (touched.length < 2 || touched.length > STRIPS) return null;
    const height = (tall - GAP * unit * (touched.length - 1)) / touched.length;
    return touched.map((a, i) => ({
        name: allocationName(a),
        first: a.address,
        last: a.address + a.size - 1,
        top: TOP * unit + i * (height + GAP * unit),
        height,
    }));
}

export const xOf = ({ view, wide, unit }: Frame, record: number) =>
    LEFT * unit + ((record - view.from) / recordsIn(view)) * wide;
export const yIn = (strip: Strip, byte: number) => strip.top + ((byte - strip.first) / bytesIn(strip)) * strip.height;
export const stripAt = ({ strips, unit }: Frame, y: number) =>
    strips.find((s) => y < s.top + s.height + (GAP * unit) / 2) ?? strips[strips.length - 1];
export const recordAt = ({ view, wide, unit }: Frame, x: number) =>
    Math.max(view.from, Math.min(view.to, Math.floor(view.from + ((x - LEFT * unit) / wide) * recordsIn(view))));
export function byteAt(frame: Frame, y: number): number {
    const strip = stripAt(frame, y),
        byte = Math.floor(strip.first + ((y - strip.top) / strip.height) * bytesIn(strip));
    return Math.max(strip.first, Math.min(strip.last, byte));
}

// The extent nearest to one that is asked for: inside the whole, and not too small; null: the whole.
export function zoomed(whole: Extent, from: number, to: number, first: number, last: number): Extent | null {
    const records = recordsIn(whole),
        bytes = bytesIn(whole);
    const many = Math.max(Math.min(LEAST_RECORDS, records), Math.min(records, Math.round(to - from + 1))),
        long = Math.max(Math.min(LEAST_BYTES, bytes), Math.min(bytes, Math.round(last - first + 1)));
    const a = Math.round(Math.max(whole.from, Math.min(from, whole.to + 1 - many))),
        b = Math.round(Math.max(whole.first, Math.min(first, whole.last + 1 - long)));
    return many >= records && long >= bytes ? null : { from: a, to: a + many - 1, first: b, last: b + long - 1 };
}

// What a drag from one place to another asks for: all addresses if it leaves its strip.
export function draggedTo(frame: Frame, drag: Drag): [number, number, number, number] {
    const [left, right] = [Math.min(drag.x, drag.toX), Math.max(drag.x, drag.toX)],
        [top, under] = [Math.min(drag.y, drag.toY), Math.max(drag.y, drag.toY)];
    const strip = stripAt(frame, drag.y),
        inside = stripAt(frame, drag.toY) === strip;
    const bytes: [number, number] =
        frame.inStrips && !inside
            ? [frame.view.first, frame.view.last]
            : [byteAt(frame, Math.max(top, strip.top)), byteAt(frame, Math.min(under, strip.top + strip.height - 1))];
    return [recordAt(frame, left), recordAt(frame, right), ...bytes];
}

// A rectangle that is being drawn with the pointer, in pixels.
export interface Drag {
    x: number;
    y: number;
    toX: number;
    toY: number;
}
