// The state in the URL's fragment, as fields that a person can read and write:
//     #launch=3&view=banks&cta=0-3&space=shared&record=1204&pins=1204.5,1230
// Reading never fails: what is not understood is left out and said.
import {
    GROUPS,
    KINDS,
    NO_FILTER,
    PIN_NAME_MOST,
    SPACES,
    VIEWS,
    hex,
    initialState,
    parseRanges,
    rangesText,
    type Compare,
    type Pin,
    type Range,
    type Shape,
    type State,
    type ViewName,
} from "./state";
import type { GroupBy, OperationKind, Space } from "./source";

const rangeText = (range: Range) => `${range.space}:${hex(range.first)}-${hex(range.last)}`;

function pinText({ index, lane, bytes, name }: Pin): string {
    const what = bytes ? rangeText(bytes) : lane === null ? `${index}` : `${index}.${lane}`;
    return name ? `${what}~${encodeURIComponent(name)}` : what;
}

export function encode(state: State): string {
    const fields: string[] = [],
        base = initialState(),
        { filter } = state;
    const put = (name: string, value: string | number | null) => {
        if (value !== null && value !== "")
            fields.push(`${name}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%3A/g, ":")}`);
    };
    put("launch", state.launch);
    put("view", state.view);
    if (state.second !== base.second) put("second", state.second ?? "none");
    put("cta", rangesText(filter.ctas));
    put("warp", rangesText(filter.warps));
    put("site", filter.sites.join(","));
    put("line", filter.lines.map((l) => `${l.source}:${l.line}`).join(","));
    put("op", filter.kinds.join(","));
    put("space", filter.space);
    put("range", filter.range && rangeText(filter.range));
    if (filter.partial) put("partial", 1);
    put("record", state.record);
    put("lane", state.lane);
    put("bytes", state.bytes && rangeText(state.bytes));
    put("pins", state.pins.map(pinText).join(","));
    put("file", state.source);
    put("at", state.line);
    if (state.group !== base.group) put("group", state.group);
    put("window", state.window && rangeText(state.window));
    put(
        "shapes",
        Object.entries(state.shapes)
            .map(([allocation, shape]) => `${allocation}:${shape.kind}:${shape.pitch}`)
            .join(","),
    );
    put(
        "order",
        state.order && `${state.order.from}-${state.order.to}:${hex(state.order.first)}-${hex(state.order.last)}`,
    );
    put(
        "compare",
        state.compare && `${state.compare.other ? "other" : "this"}:${state.compare.launch}:${state.compare.index}`,
    );
    put("t", state.time && `${Math.round(state.time[0])}-${Math.round(state.time[1])}`);
    if (state.split !== base.split) put("split", Math.round(state.split));
    if (state.stacked) put("banks", "stacks");
    put("finding", state.finding);
    if (state.wholeRun) put("scope", "run");
    return fields.length ? `#${fields.join("&")}` : "";
}

class Bad extends Error {}

function number(text: string): number {
    if (!/^\d{1,15}$/.test(text)) throw new Bad();
    return Number(text);
}
function address(text: string): number {
    if (!/^0x[0-9a-fA-F]{1,13}$/.test(text)) throw new Bad();
    return Number(text);
}
function oneOf<T extends string>(text: string, list: readonly T[]): T {
    if (!(list as readonly string[]).includes(text)) throw new Bad();
    return text as T;
}
function listOf<T>(text: string, each: (part: string) => T): T[] {
    return text.split(",").filter(Boolean).map(each);
}
function span(text: string, each: (part: string) => number): [number, number] {
    const [first, last, more] = text.split("-");
    if (first === undefined || last === undefined || more !== undefined) throw new Bad();
    const pair: [number, number] = [each(first), each(last)];
    if (pair[1] < pair[0]) throw new Bad();
    return pair;
}
function range(text: string): Range {
    const [space, rest] = text.split(":");
    const [first, last] = span(rest ?? "", address);
    return { space: oneOf(space, SPACES), first, last };
}
function ranges(text: string): [number, number][] {
    const found = parseRanges(text);
    if (!found) throw new Bad();
    return found;
}
function pin(text: string): Pin {
    const tilde = text.indexOf("~"),
        what = tilde < 0 ? text : text.slice(0, tilde);
    const name = tilde < 0 ? "" : decodeURIComponent(text.slice(tilde + 1)).slice(0, PIN_NAME_MOST);
    if (what.includes(":")) return { index: null, lane: null, bytes: range(what), name };
    const [index, lane] = what.split(".");
    const at = lane === undefined ? null : number(lane);
    if (at !== null && at > 31) throw new Bad();
    return { index: number(index), lane: at, bytes: null, name };
}
function shape(text: string): [number, Shape] {
    const [allocation, kind, pitch] = text.split(":");
    return [
        number(allocation),
        { kind: oneOf(kind ?? "", ["array", "matrix", "structs", "banks"] as const), pitch: number(pitch ?? "") },
    ];
}
function compare(text: string): Compare {
    const [run, launch, index] = text.split(":");
    return {
        other: oneOf(run, ["this", "other"] as const) === "other",
        launch: number(launch ?? ""),
        index: number(index ?? ""),
    };
}

const FIELDS: Record<string, (state: State, text: string) => void> = {
    launch: (s, t) => (s.launch = number(t)),
    view: (s, t) => (s.view = oneOf<ViewName>(t, VIEWS)),
    second: (s, t) => (s.second = t === "none" ? null : oneOf<ViewName>(t, VIEWS)),
    cta: (s, t) => (s.filter.ctas = ranges(t)),
    warp: (s, t) => (s.filter.warps = ranges(t)),
    site: (s, t) => (s.filter.sites = listOf(t, number)),
    line: (s, t) =>
        (s.filter.lines = listOf(t, (part) => {
            const [source, line] = part.split(":");
            return { source: number(source), line: number(line ?? "") };
        })),
    op: (s, t) => (s.filter.kinds = listOf(t, (part) => oneOf<OperationKind>(part, KINDS))),
    space: (s, t) => (s.filter.space = oneOf<Space>(t, SPACES)),
    range: (s, t) => (s.filter.range = range(t)),
    partial: (s, t) => (s.filter.partial = t === "1"),
    record: (s, t) => (s.record = number(t)),
    lane: (s, t) => {
        if (number(t) > 31) throw new Bad();
        s.lane = number(t);
    },
    bytes: (s, t) => (s.bytes = range(t)),
    pins: (s, t) => (s.pins = listOf(t, pin)),
    file: (s, t) => (s.source = number(t)),
    at: (s, t) => (s.line = number(t)),
    group: (s, t) => (s.group = oneOf<GroupBy>(t, GROUPS)),
    window: (s, t) => (s.window = range(t)),
    shapes: (s, t) => (s.shapes = Object.fromEntries(listOf(t, shape))),
    order: (s, t) => {
        const [records, bytes] = t.split(":");
        const [from, to] = span(records, number),
            [first, last] = span(bytes ?? "", address);
        s.order = { from, to, first, last };
    },
    compare: (s, t) => (s.compare = compare(t)),
    t: (s, t) => (s.time = span(t, number)),
    split: (s, t) => (s.split = Math.max(15, Math.min(85, number(t)))),
    banks: (s, t) => (s.stacked = oneOf(t, ["lanes", "stacks"] as const) === "stacks"),
    finding: (s, t) => (s.finding = number(t)),
    scope: (s, t) => (s.wholeRun = oneOf(t, ["run", "launch"] as const) === "run"),
};

export function decode(fragment: string): { state: State; problems: string[] } {
    const state = initialState(),
        problems: string[] = [];
    state.filter = { ...NO_FILTER };
    for (const field of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
        const at = field.indexOf("="),
            name = at < 0 ? field : field.slice(0, at);
        try {
            const read = Object.prototype.hasOwnProperty.call(FIELDS, name) ? FIELDS[name] : undefined;
            if (!read) throw new Bad();
            read(state, decodeURIComponent(field.slice(at + 1)));
        } catch {
            problems.push(
                `The link says '${field.slice(0, 60)}', which this page does not understand; it was ignored.`,
            );
        }
    }
    return { state, problems };
}
