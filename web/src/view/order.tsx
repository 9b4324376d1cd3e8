// Addresses against the order of requests, the classic picture of a trace: a dot where a request
// touched an address. A launch's allocations lie far apart, so each has a strip of its own. Wheel:
// zoom both axes; with shift the order alone. Drag a rectangle: zoom to it. Zoomed in, a column is a
// single request; click one to select it.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { useAsk } from "./ask";
import { Canvas, unitOf, type Brush } from "./canvas";
import { zoomOf } from "./keys";
import { useModel, type Model } from "./model";
import * as frames from "./order-frame";
import { BOTTOM, LEFT, RIGHT, TOP, type Drag, type Extent, type Frame } from "./order-frame";
import { dotsOf, drawDrag, drawOrder, type Dots } from "./order-paint";
import { Choice, Failed, Head, Inks, NothingLeft, Unrecorded } from "./parts";
import { addressText, allocationAt, allocationName } from "./places";
import type { Space } from "./source";
import { hex, isFiltered } from "./state";

// The width and height of a place, which is there while `present`.
function useSizeOf(place: RefObject<HTMLElement>, present: boolean): { width: number; height: number } {
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        const element = place.current;
        if (!element) return;
        const observer = new ResizeObserver(
            () => element.clientWidth && setSize({ width: element.clientWidth, height: element.clientHeight }),
        );
        observer.observe(element);
        return () => observer.disconnect();
    }, [present]);
    return size;
}

// The allocation that the picture is restricted to, as the address map.
const ownAllocation = ({ launch, state }: Model, space: Space) =>
    space === "global" && state.window?.space === "global" ? allocationAt(launch, state.window.first) : null;

function useFrame(model: Model, space: Space, size: { width: number; height: number }): Frame {
    const { launch, state } = model,
        used = launch.spaces.find((s) => s.space === space) ?? null,
        own = ownAllocation(model, space);
    const unit = unitOf(),
        wide = Math.max(1, size.width - (LEFT + RIGHT) * unit),
        tall = Math.max(1, size.height - (TOP + BOTTOM) * unit);
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
    const several = useMemo(
        () => (!own && everything ? frames.stripsOf(model, space, tall, unit) : null),
        [launch, space, own?.allocation, everything, tall, unit],
    );
    const strips = several ?? [{ name: "", first: view.first, last: view.last, top: TOP * unit, height: tall }];
    return { space, whole, view, strips, inStrips: several !== null, wide, tall, unit };
}

// The dots of each strip; nothing is asked before the place has a size.
function useDots({ source, launch, state }: Model, frame: Frame, sized: boolean) {
    const { space, view, strips } = frame,
        columns = frames.columnsOf(frame),
        rows = strips.map(frames.rowsOf);
    const cut = strips.map((s, i) => `${s.first}-${s.last}-${rows[i]}`).join();
    const answer = useAsk(
        `${launch.launch}|${space}`,
        sized ? `order|${view.from}|${view.to}|${columns}|${cut}|${JSON.stringify(state.filter)}` : null,
        (signal) =>
            Promise.all(
                strips.map((s, i) =>
                    source.order(
                        launch.launch,
                        state.filter,
                        space,
                        s.first,
                        s.last,
                        view.from,
                        view.to,
                        columns,
                        rows[i],
                        signal,
                    ),
                ),
            ),
    );
    const dots = useMemo<Dots | null>(() => answer.data && dotsOf(answer.data), [answer.data]);
    return { answer, dots };
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
    const used = spaces.includes(space),
        place = useRef<HTMLDivElement>(null),
        size = useSizeOf(place, used);
    const frame = useFrame(model, space, size),
        { answer, dots } = useDots(model, frame, used && size.width > 0);
    const [hint, setHint] = useState("");
    if (!used) return <Unrecorded />;
    const single = frames.recordsIn(frame.view) <= frames.columnsOf(frame),
        none = !!dots && !dots.dots && isFiltered(state.filter);
    const tools = (
        <>
            {state.order && <button onClick={() => model.set({ order: null })}>Show all</button>}
            {space === "global" && <AllocationMenu />}
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
    );
    return (
        <>
            <Head tools={tools}>
                <b>{count(frames.recordsIn(frame.view))}</b> requests{" "}
                <span class="soft">
                    {hint || (single ? "one column each; click to select" : "drag or scroll to zoom")}
                </span>{" "}
                <Inks />
            </Head>
            {model.run.recorder === "cpu" && (
                <p class="soft axes pad">
                    Requests are in recorded order. CPU workers ran the CTAs: how CTAs interleave here is not how a GPU
                    would run them. The order within a warp is the program's.
                </p>
            )}
            {answer.error && <Failed answer={answer} />}
            {none && <NothingLeft what="accesses" />}
            <div class="order" ref={place} style={none ? { display: "none" } : {}}>
                <OrderPicture frame={frame} dots={dots} single={single} onHint={setHint} />
            </div>
        </>
    );
}

// The whole address space, or one of the allocations that the launch touched.
function AllocationMenu() {
    const model = useModel(),
        touched = model.launch.allocations.filter((a) => a.touched),
        own = ownAllocation(model, "global");
    if (touched.length < 2) return null;
    const choose = (allocation: string) => {
        const a = touched.find((x) => String(x.allocation) === allocation);
        model.set({
            order: null,
            window: a ? { space: "global", first: a.address, last: a.address + a.size - 1 } : null,
        });
    };
    return (
        <select
            aria-label="Addresses shown"
            value={String(own?.allocation ?? "")}
            onChange={(event) => choose(event.currentTarget.value)}
        >
            <option value="">all addresses</option>
            {touched.map((a) => (
                <option value={String(a.allocation)}>{allocationName(a)}</option>
            ))}
        </select>
    );
}

interface OrderPictureProps {
    frame: Frame;
    dots: Dots | null;
    single: boolean; // a column is one request
    onHint: (text: string) => void;
}
function OrderPicture({ frame, dots, single, onHint }: OrderPictureProps) {
    const model = useModel(),
        { launch } = model,
        { space, view, strips, unit } = frame;
    const scratch = useRef<HTMLCanvasElement | null>(null);
    const [drag, setDrag] = useState<Drag | null>(null);
    const draw = (brush: Brush) => {
        drawOrder(brush, model, frame, dots, (scratch.current ??= document.createElement("canvas")));
        if (drag) drawDrag(brush, drag);
    };
    const { show, zoomTo, zoomAround, keyed } = zoomsOf(model, frame);
    const leave = () => {
        onHint("");
        if (model.hover.get()?.from === "order") model.hover.set(null);
    };
    const move = (x: number, y: number) => {
        if (drag) return setDrag({ ...drag, toX: x, toY: y });
        if (x < LEFT * unit || y < TOP * unit || y > TOP * unit + frame.tall) return leave();
        const byte = frames.byteAt(frame, y),
            address = `${addressText(launch, space, byte)} (${hex(byte)})`,
            text = `request ${count(frames.recordAt(frame, x))}, ${address}`;
        onHint(text);
        model.hover.set({
            from: "order",
            record: null,
            lane: null,
            bytes: { space, first: byte, last: byte },
            touches: null,
            touchCount: 0,
            text,
        });
    };
    const release = (x: number, y: number) => {
        if (!drag) return;
        setDrag(null);
        if (Math.abs(drag.x - x) < 4 && Math.abs(drag.y - y) < 4) return;
        show(...frames.draggedTo(frame, { ...drag, toX: x, toY: y }));
    };
    const against = strips.map(
        (s) => s.name || `${addressText(launch, space, s.first)} to ${addressText(launch, space, s.last)}`,
    );
    return (
        <Canvas
            draw={draw}
            redraw={(paint) => model.hover.watch(paint)}
            cursor="crosshair"
            label={
                `Requests ${view.from} to ${view.to} against ` +
                `${against.join(", ")}: ${count(dots?.dots ?? 0)} of ${count(dots?.of ?? 0)} dots`
            }
            onDown={(x, y) => setDrag({ x, y, toX: x, toY: y })}
            onMove={move}
            onLeave={leave}
            onUp={release}
            onClick={(x, y) => {
                if (single) model.set({ record: frames.recordAt(frame, x), lane: null });
                else zoomTo(x, y);
            }}
            onDouble={() => model.set({ order: null })}
            onKey={keyed}
            onWheel={(x, y, event) => {
                event.preventDefault();
                const factor = event.deltaY > 0 || event.deltaX > 0 ? 2 : 0.5;
                zoomAround(x, y, { records: factor, bytes: event.shiftKey ? 1 : factor });
            }}
        />
    );
}

// Ways to another extent: to one that is said, to a place on the picture, around one, by a key.
function zoomsOf(model: Model, frame: Frame) {
    const { view, inStrips } = frame;
    const show = (from: number, to: number, first: number, last: number) =>
        model.set({ order: frames.zoomed(frame.whole, from, to, first, last) });
    // In strips the order alone is zoomed, over all addresses.
    const bytesAround = (y: number, factor: number): [number, number] => {
        if (inStrips) return [view.first, view.last];
        const byte = frames.byteAt(frame, y);
        return [byte - (byte - view.first) * factor, byte + (view.last - byte) * factor];
    };
    const zoomTo = (x: number, y: number) => {
        const record = frames.recordAt(frame, x),
            reach = frames.recordsIn(view) / 8;
        show(record - reach, record + reach, ...bytesAround(y, 0.25));
    };
    const zoomAround = (x: number, y: number, factor: { records: number; bytes: number }) => {
        const record = frames.recordAt(frame, x);
        show(
            record - (record - view.from) * factor.records,
            record + (view.to - record) * factor.records,
            ...bytesAround(y, factor.bytes),
        );
    };
    const keyed = (event: KeyboardEvent) => {
        const asked = zoomOf(event),
            many = frames.recordsIn(view),
            long = frames.bytesIn(view);
        if (!asked) return false;
        if (asked.all) model.set({ order: null });
        else {
            const record = view.from + Math.floor(many / 2) + asked.right * Math.ceil(many / 4),
                byte = view.first + Math.floor(long / 2) + (inStrips ? 0 : asked.down * Math.ceil(long / 4));
            const wide = (many * asked.factor) / 2,
                tall = inStrips ? long / 2 : (long * asked.factor) / 2;
            show(record - wide, record + wide - 1, byte - tall, byte + tall - 1);
        }
        return true;
    };
    return { show, zoomTo, zoomAround, keyed };
}
