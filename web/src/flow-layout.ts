// Where the graph's parts stand: a column for each place in call order, a lane for each stream or host thread.
import { bytesOf, drawnAs, laneText, type FlowData, type Link, type LinkKind } from "./flow-data";

export const COLUMN = 116,
    BOX = 88,
    HIGH = 40,
    LANE = 128,
    HEAD = 26, // for the brackets of one depth of loops
    LEFT = 10;
const BOX_TOP = 48; // in a lane: room for links above the boxes

export interface Bracket {
    first: number;
    last: number;
    times: number;
    depth: number;
}
export interface Layout {
    lanes: string[];
    laneOf: number[]; // by place
    brackets: Bracket[];
    top: number; // of the first lane
    width: number;
    height: number;
}

export function layoutOf(data: FlowData): Layout {
    const lanes: string[] = [],
        ranks = data.places.some((place) => place.rank !== data.places[0].rank);
    const laneOf = data.places.map((place) => {
        const text = laneText(place, ranks);
        if (!lanes.includes(text)) lanes.push(text);
        return lanes.indexOf(text);
    });
    const open: number[] = [];
    const brackets = data.loops.map(({ first, last, times }) => {
        while (open.length && open[open.length - 1] < first) open.pop();
        open.push(last);
        return { first, last, times, depth: open.length - 1 };
    });
    const top = HEAD * (1 + Math.max(-1, ...brackets.map(({ depth }) => depth)));
    return {
        lanes,
        laneOf,
        brackets,
        top,
        width: 2 * LEFT + COLUMN * data.places.length,
        height: top + LANE * lanes.length,
    };
}

export const xOf = (place: number) => LEFT + COLUMN * place;
export const yOf = (layout: Layout, place: number) => layout.top + LANE * layout.laneOf[place] + BOX_TOP;

// The curve of a link. In a lane, forward: straight to the neighbour, else above the boxes; to a later iteration:
// below them.
export function curveOf(layout: Layout, { from, to, carried }: Link): string {
    const fromX = xOf(from),
        toX = xOf(to),
        fromY = yOf(layout, from),
        toY = yOf(layout, to),
        middle = HIGH / 2;
    if (carried) {
        const deep = Math.max(fromY, toY) + HIGH + Math.min(30, 14 + 4 * Math.abs(from - to));
        const a = fromX + BOX * 0.6,
            b = toX + BOX * 0.4;
        return `M${a},${fromY + HIGH}C${a},${deep} ${b},${deep} ${b},${toY + HIGH + 3}`;
    }
    if (layout.laneOf[from] === layout.laneOf[to]) {
        if (to === from + 1) return `M${fromX + BOX},${fromY + middle}H${toX - 3}`;
        const high = fromY - Math.min(40, 10 + 6 * (to - from)),
            a = fromX + BOX * 0.7,
            b = toX + BOX * 0.3;
        return `M${a},${fromY}C${a},${high} ${b},${high} ${b},${toY - 3}`;
    }
    const a = fromX + BOX,
        b = toX - 3,
        bend = Math.max(20, Math.abs(b - a) / 2);
    return `M${a},${fromY + middle}C${a + bend},${fromY + middle} ${b - bend},${toY + middle} ${b},${toY + middle}`;
}

export interface Drawn {
    link: Link;
    index: number;
    kind: LinkKind;
    width: number; // of the line: by the logarithm of its bytes
}

// Those that are seen between two columns, the thickest last.
export function drawnLinks(data: FlowData, shown: LinkKind[], first: number, last: number): Drawn[] {
    const most = Math.log(1 + data.links.reduce((n, link) => Math.max(n, ...shown.map((k) => bytesOf(link, k))), 1));
    const drawn: Drawn[] = [];
    data.links.forEach((link, index) => {
        const kind = drawnAs(link, shown);
        if (!kind || Math.max(link.from, link.to) < first || Math.min(link.from, link.to) > last) return;
        drawn.push({ link, index, kind, width: 1 + (4 * Math.log(1 + bytesOf(link, kind))) / most });
    });
    return drawn.reverse();
}
