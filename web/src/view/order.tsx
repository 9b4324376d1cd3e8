// Addresses against the order of requests, the classic picture of a trace: a dot where a request
// touched an address. A launch's allocations lie far apart, so each has a strip of its own. Wheel:
// zoom both axes; with shift the order alone. Drag a rectangle: zoom to it. Zoomed in, a column is a
// single request; click one to select it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { useAsk } from "./ask";
import { Canvas, drawLetter, fitText, unitOf, type Brush } from "./canvas";
import { useModel, type Model } from "./model";
import { Choice, Failed, Head, NothingLeft, Unrecorded } from "./parts";
import { blend, inksOf, most } from "./paint";
import { zoomOf } from "./keys";
import { addressText, allocationAt, allocationName } from "./places";
import type { Space } from "./source";
import { hex, isFiltered, pinLetter } from "./state";

const LEFT = 132,
    BOTTOM = 22,
    TOP = 6,
    RIGHT = 10,
    GAP = 6,
    STRIPS = 6;

interface Strip {
    name: string;
    first: number;
    last: number;
    top: number;
    height: number;
}
interface Extent {
    from: number; // records
    to: number;
    first: number;
    last: number;
}

// The strips of the picture, or null: one alone, from `first` to `last`.
function stripsOf(model: Model, space: Space, alone: boolean, top: number, tall: number, unit: number): Strip[] | null {
    const touched = space === "global" && !alone ? model.launch.allocations.filter((a) => a.touched) : [];
    if (touched.length < 2 || touched.length > STRIPS) return null;
    const height = (tall - GAP * unit * (touched.length - 1)) / touched.length;
    return touched.map((a, i) => ({
        name: allocationName(a),
        first: a.address,
        last: a.address + a.size - 1,
        top: top + i * (height + GAP * unit),
        height,
    }));
}

export function OrderView() {
    const model = useModel(),
        { launch, state } = model,
        spaces = launch.spaces.map((s) => s.space);
    const [picked, setPicked] = useState<Space | null>(null);
    const space =
        picked && spaces.includes(picked)
            ? picked
            : (state.window?.space ??
              state.filter.space ??
              model.selected?.space ??
              (spaces.includes("global") ? "global" : (spaces[0] ?? "global")));
    const used = launch.spaces.find((s) => s.space === space) ?? null;
    const place = useRef<HTMLDivElement>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        if (!place.current) return;
        const observer = new ResizeObserver(
            () =>
                place.current?.clientWidth &&
                setSize({ width: place.current.clientWidth, height: place.current.clientHeight }),
        );
        observer.observe(place.current);
        return () => observer.disconnect();
    }, [!used]);
    const unit = unitOf(),
        wide = Math.max(1, size.width - (LEFT + RIGHT) * unit),
        tall = Math.max(1, size.height - (TOP + BOTTOM) * unit);
    const own =
        space === "global" && state.window?.space === "global" ? allocationAt(launch, state.window.first) : null;
    const whole = useMemo<Extent>(
        () => ({
            from: 0,
            to: Math.max(0, launch.records - 1),
            first: own ? own.address : (used?.first ?? 0),
            last: own ? own.address + own.size - 1 : (used?.last ?? 0),
        }),
        [launch, own?.allocation, used],
    );
    const view: Extent =
        state.order && state.order.from < launch.records
            ? { ...state.order, to: Math.min(state.order.to, whole.to) }
            : whole;
    const everything = view.first <= whole.first && view.last >= whole.last;
    const records = view.to - view.from + 1,
        columns = Math.max(1, Math.min(records, Math.floor(wide / 2)));
    const several = useMemo(
        () => stripsOf(model, space, !!own || !everything, TOP * unit, tall, unit),
        [launch, space, own?.allocation, everything, tall, unit],
    );
    const strips: Strip[] = several ?? [
        { name: "", first: view.first, last: view.last, top: TOP * unit, height: tall },
    ];
    const rowsOf = (strip: Strip) => Math.max(1, Math.min(strip.last - strip.first + 1, Math.floor(strip.height / 2)));
    const order = useAsk(
        `${launch.launch}|${space}`,
        used && size.width
            ? `order|${view.from}|${view.to}|${columns}|` +
                  `${strips.map((s) => `${s.first}-${s.last}-${rowsOf(s)}`).join()}|` +
                  `${JSON.stringify(state.filter)}`
            : null,
        (signal) =>
            Promise.all(
                strips.map((s) =>
                    model.source.order(
                        launch.launch,
                        state.filter,
                        space,
                        s.first,
                        s.last,
                        view.from,
                        view.to,
                        columns,
                        rowsOf(s),
                        signal,
                    ),
                ),
            ),
    );
    const image = useRef<HTMLCanvasElement | null>(null);
    const [drag, setDrag] = useState<{ x: number; y: number; toX: number; toY: number } | null>(null);
    const [hint, setHint] = useState("");
    const counts = useMemo(
        () =>
            order.data && {
                reads: Math.max(...order.data.map((d) => most(d.reads))),
                writes: Math.max(...order.data.map((d) => most(d.writes))),
                dots: order.data.reduce(
                    (sum, d) => sum + d.reads.reduce((n, v, i) => n + (v || d.writes[i] ? 1 : 0), 0),
                    0,
                ),
                of: order.data.reduce((sum, d) => sum + d.reads.length, 0),
            },
        [order.data],
    );

    const xOf = (record: number) => LEFT * unit + ((record - view.from) / records) * wide;
    const yIn = (strip: Strip, byte: number) =>
        strip.top + ((byte - strip.first) / (strip.last - strip.first + 1)) * strip.height;
    const stripAt = (y: number) =>
        strips.find((s) => y < s.top + s.height + (GAP * unit) / 2) ?? strips[strips.length - 1];
    const recordAtX = (x: number) =>
        Math.max(view.from, Math.min(view.to, Math.floor(view.from + ((x - LEFT * unit) / wide) * records)));
    const byteAtY = (y: number) => {
        const strip = stripAt(y);
        return Math.max(
            strip.first,
            Math.min(
                strip.last,
                Math.floor(strip.first + ((y - strip.top) / strip.height) * (strip.last - strip.first + 1)),
            ),
        );
    };
    const dots = ({ context, theme }: Brush, strip: Strip, place: number) => {
        const data = order.data?.length === strips.length ? order.data[place] : undefined;
        if (!data || !counts) return;
        const picture = (image.current ??= document.createElement("canvas")),
            inks = inksOf(theme);
        picture.width = data.columns;
        picture.height = data.rows;
        const ink = picture.getContext("2d")!,
            pixels = ink.createImageData(data.columns, data.rows);
        for (let i = 0; i < data.reads.length; i++) {
            if (!data.reads[i] && !data.writes[i]) continue;
            const [r, g, b] = blend(inks, data.reads[i], data.writes[i], counts.reads, counts.writes);
            pixels.data.set([r, g, b, 255], 4 * i);
        }
        ink.putImageData(pixels, 0, 0);
        context.imageSmoothingEnabled = false;
        context.save();
        context.beginPath();
        context.rect(LEFT * unit, strip.top, wide, strip.height);
        context.clip();
        const x = xOf(data.firstRecord),
            y = yIn(strip, data.first);
        context.drawImage(picture, x, y, xOf(data.lastRecord + 1) - x, yIn(strip, data.last + 1) - y);
        context.restore();
    };
    const draw = (brush: Brush) => {
        const { context, theme, unit: u, small, width } = brush,
            hover = model.hover.get(),
            bottom = TOP * u + tall;
        for (const [place, strip] of strips.entries()) {
            context.fillStyle = theme.background;
            context.fillRect(LEFT * u, strip.top, wide, strip.height);
            dots(brush, strip, place);
            context.font = small;
            context.fillStyle = theme.text;
            context.textAlign = "right";
            const label = (text: string, y: number) =>
                context.fillText(fitText(context, text, (LEFT - 14) * u), (LEFT - 6) * u, y);
            label(
                strip.name ||
                    (space === "global" ? addressText(launch, space, strip.first) : `+${count(strip.first)} B`),
                strip.top + 7 * u,
            );
            if (strip.height > 34 * u)
                label(
                    strip.name
                        ? `[${count(elements(strip))}]`
                        : space === "global"
                          ? addressText(launch, space, strip.last)
                          : `+${count(strip.last)} B`,
                    strip.top + strip.height - 6 * u,
                );
            const range = state.bytes ?? hover?.bytes;
            if (range?.space === space && range.last >= strip.first && range.first <= strip.last) {
                context.fillStyle = theme.emphasis;
                context.globalAlpha = 0.35;
                const y = yIn(strip, Math.max(strip.first, range.first));
                context.fillRect(LEFT * u, y, wide, Math.max(u, yIn(strip, Math.min(strip.last, range.last) + 1) - y));
                context.globalAlpha = 1;
            }
        }
        context.fillStyle = theme.text;
        context.textAlign = "left";
        context.fillText(count(view.from), LEFT * u, bottom + 12 * u);
        context.textAlign = "right";
        context.fillText(count(view.to), width - RIGHT * u, bottom + 12 * u);
        context.textAlign = "center";
        context.fillText("request →", LEFT * u + wide / 2, bottom + 12 * u);
        for (const [record, alpha] of [
            [state.record, 0.9],
            [hover?.record?.index ?? null, 0.5],
        ] as const)
            if (record !== null && record >= view.from && record <= view.to) {
                context.fillStyle = theme.emphasis;
                context.globalAlpha = alpha;
                context.fillRect(xOf(record + 0.5) - u / 2, TOP * u, Math.max(1, u), tall);
                context.globalAlpha = 1;
            }
        drawPins(brush);
        if (drag) {
            context.strokeStyle = theme.emphasis;
            context.setLineDash([4, 3]);
            context.strokeRect(
                Math.min(drag.x, drag.toX),
                Math.min(drag.y, drag.toY),
                Math.abs(drag.toX - drag.x),
                Math.abs(drag.toY - drag.y),
            );
            context.setLineDash([]);
        }
    };
    // Pinned requests as lines with their letter on top, pinned bytes with theirs beside them.
    const drawPins = ({ context, theme, unit: u, small }: Brush) => {
        context.font = small;
        state.pins.forEach((pin, i) => {
            context.fillStyle = theme.palette[3]!;
            if (pin.index !== null && pin.index >= view.from && pin.index <= view.to) {
                const x = Math.round(xOf(pin.index + 0.5));
                context.fillRect(x - 1, TOP * u, Math.max(2, 1.5 * u), tall);
                drawLetter(context, theme, pinLetter(i), x, (TOP + 7) * u, 11 * u, 13 * u);
            }
            const range = pin.bytes,
                strip = range?.space === space && strips.find((s) => range.last >= s.first && range.first <= s.last);
            if (!range || !strip) return;
            const y = yIn(strip, Math.max(strip.first, range.first)),
                high = Math.max(u, yIn(strip, Math.min(strip.last, range.last) + 1) - y);
            context.globalAlpha = 0.5;
            context.fillRect(LEFT * u, y, wide, high);
            context.globalAlpha = 1;
            drawLetter(context, theme, pinLetter(i), LEFT * u - 8 * u, y + high / 2, 11 * u, 12 * u);
        });
    };
    const elements = (strip: Strip) => {
        const a = allocationAt(launch, strip.first);
        return Math.floor((strip.last - strip.first) / (a?.elementBytes ?? 1));
    };
    // Zoomed to records and, unless it is everything, to bytes.
    const show = (from: number, to: number, first: number, last: number) => {
        const leastRecords = Math.min(8, whole.to - whole.from + 1),
            leastBytes = Math.min(64, whole.last - whole.first + 1);
        const many = Math.max(leastRecords, Math.min(whole.to - whole.from + 1, Math.round(to - from + 1))),
            long = Math.max(leastBytes, Math.min(whole.last - whole.first + 1, Math.round(last - first + 1)));
        const a = Math.round(Math.max(whole.from, Math.min(from, whole.to + 1 - many))),
            b = Math.round(Math.max(whole.first, Math.min(first, whole.last + 1 - long)));
        const all = many >= whole.to - whole.from + 1 && long >= whole.last - whole.first + 1;
        model.set({ order: all ? null : { from: a, to: a + many - 1, first: b, last: b + long - 1 } });
    };
    // What a zoom on the picture starts from: in strips the order alone is zoomed, over all addresses.
    const bytesAround = (y: number, factor: number): [number, number] => {
        if (several) return [view.first, view.last];
        const byte = byteAtY(y);
        return [byte - (byte - view.first) * factor, byte + (view.last - byte) * factor];
    };
    const leave = () => {
        setHint("");
        if (model.hover.get()?.from === "order") model.hover.set(null);
    };
    const release = (x: number, y: number) => {
        if (!drag) return;
        setDrag(null);
        if (Math.abs(drag.x - x) < 4 && Math.abs(drag.y - y) < 4) return;
        const [left, right] = [Math.min(drag.x, x), Math.max(drag.x, x)],
            [top, under] = [Math.min(drag.y, y), Math.max(drag.y, y)];
        const strip = stripAt(drag.y),
            inside = stripAt(y) === strip;
        show(
            recordAtX(left),
            recordAtX(right),
            ...(several && !inside
                ? ([view.first, view.last] as const)
                : ([
                      byteAtY(Math.max(top, strip.top)),
                      byteAtY(Math.min(under, strip.top + strip.height - 1)),
                  ] as const)),
        );
    };
    if (!used) return <Unrecorded />;
    const against = strips.map(
        (s) => s.name || `${addressText(launch, space, s.first)} to ${addressText(launch, space, s.last)}`,
    );
    const single = records <= columns,
        none = !!counts && !counts.dots && isFiltered(state.filter),
        touched = launch.allocations.filter((a) => a.touched);
    return (
        <>
            <Head
                tools={
                    <>
                        {state.order && <button onClick={() => model.set({ order: null })}>Show all</button>}
                        {space === "global" && touched.length > 1 && (
                            <select
                                aria-label="Addresses shown"
                                value={String(own?.allocation ?? "")}
                                onChange={(event) => {
                                    const a = touched.find((x) => String(x.allocation) === event.currentTarget.value);
                                    model.set({
                                        order: null,
                                        window: a
                                            ? { space: "global", first: a.address, last: a.address + a.size - 1 }
                                            : null,
                                    });
                                }}
                            >
                                <option value="">all addresses</option>
                                {touched.map((a) => (
                                    <option value={String(a.allocation)}>{allocationName(a)}</option>
                                ))}
                            </select>
                        )}
                        {spaces.length > 1 && (
                            <Choice
                                label="Space of the order"
                                value={space}
                                options={spaces.map((s): [Space, string] => [s, s])}
                                onChoose={(s) => {
                                    setPicked(s);
                                    model.set({ order: null, window: null });
                                }}
                            />
                        )}
                    </>
                }
            >
                <b>{count(records)}</b> requests{" "}
                <span class="soft">
                    {hint || (single ? "one column each; click to select" : "drag or scroll to zoom")}
                </span>{" "}
                <span class="soft inks">
                    <i class="ramp load" />
                    read <i class="ramp store" />
                    written <i class="ramp atomic" />
                    both
                </span>
            </Head>
            {model.run.recorder === "cpu" && (
                <p class="soft axes pad">
                    Requests are in recorded order. CPU workers ran the CTAs: how CTAs interleave here is not how a GPU
                    would run them. The order within a warp is the program's.
                </p>
            )}
            {order.error && <Failed answer={order} />}
            {none && <NothingLeft what="accesses" />}
            <div class="order" ref={place} style={none ? { display: "none" } : {}}>
                <Canvas
                    draw={draw}
                    redraw={(paint) => model.hover.watch(paint)}
                    cursor="crosshair"
                    label={
                        `Requests ${view.from} to ${view.to} against ` +
                        `${against.join(", ")}: ${count(counts?.dots ?? 0)} of ${count(counts?.of ?? 0)} dots`
                    }
                    onDown={(x, y) => setDrag({ x, y, toX: x, toY: y })}
                    onMove={(x, y) => {
                        if (drag) return setDrag({ ...drag, toX: x, toY: y });
                        if (x < LEFT * unit || y < TOP * unit || y > TOP * unit + tall) return leave();
                        const byte = byteAtY(y),
                            text = `request ${count(recordAtX(x))}, ${addressText(launch, space, byte)} (${hex(byte)})`;
                        setHint(text);
                        model.hover.set({
                            from: "order",
                            record: null,
                            lane: null,
                            bytes: { space, first: byte, last: byte },
                            touches: null,
                            touchCount: 0,
                            text,
                        });
                    }}
                    onLeave={leave}
                    onUp={release}
                    onClick={(x, y) => {
                        const record = recordAtX(x);
                        if (single) return model.set({ record, lane: null });
                        show(record - records / 8, record + records / 8, ...bytesAround(y, 0.25));
                    }}
                    onDouble={() => model.set({ order: null })}
                    onKey={(event) => {
                        const asked = zoomOf(event),
                            many = view.to - view.from + 1,
                            long = view.last - view.first + 1;
                        if (!asked) return false;
                        if (asked.all) model.set({ order: null });
                        else {
                            const record = view.from + Math.floor(many / 2) + asked.right * Math.ceil(many / 4),
                                byte =
                                    view.first +
                                    Math.floor(long / 2) +
                                    (several ? 0 : asked.down * Math.ceil(long / 4));
                            const wide = (many * asked.factor) / 2,
                                tall = several ? long / 2 : (long * asked.factor) / 2;
                            show(record - wide, record + wide - 1, byte - tall, byte + tall - 1);
                        }
                        return true;
                    }}
                    onWheel={(x, y, event) => {
                        event.preventDefault();
                        const record = recordAtX(x),
                            factor = event.deltaY > 0 || event.deltaX > 0 ? 2 : 0.5;
                        show(
                            record - (record - view.from) * factor,
                            record + (view.to - record) * factor,
                            ...bytesAround(y, event.shiftKey ? 1 : factor),
                        );
                    }}
                />
            </div>
        </>
    );
}
