// Addresses against the order of requests, the classic picture of a trace: a dot where a request
// touched an address. Wheel: zoom both axes; with shift the order alone. Drag a rectangle: zoom to it.
// Zoomed in, a column is a single request; click one to select it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { useAsk } from "./ask";
import { Canvas, fitText, unitOf, type Brush } from "./canvas";
import { useModel } from "./model";
import { Choice, Empty, Failed, Head, NothingLeft } from "./parts";
import { blend, inksOf, most } from "./paint";
import { addressText, allocationAt, allocationName } from "./places";
import type { Space } from "./source";
import { hex, isFiltered } from "./state";

const LEFT = 132, BOTTOM = 22, TOP = 6, RIGHT = 10;

export function OrderView() {
    const model = useModel(), { launch, state } = model, spaces = launch.spaces.map((s) => s.space);
    const [picked, setPicked] = useState<Space | null>(null);
    const space = picked && spaces.includes(picked) ? picked : state.window?.space ?? state.filter.space ?? (spaces.includes("global") ? "global" : spaces[0] ?? "global");
    const used = launch.spaces.find((s) => s.space === space) ?? null;
    const place = useRef<HTMLDivElement>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        if (!place.current) return;
        const observer = new ResizeObserver(() => place.current && setSize({ width: place.current.clientWidth, height: place.current.clientHeight }));
        observer.observe(place.current);
        return () => observer.disconnect();
    }, [!used]);
    const unit = unitOf();
    // All that is in use, or one allocation.
    const own = space === "global" && state.window?.space === "global" ? allocationAt(launch, state.window.first) : null;
    const whole = useMemo(() => ({
        from: 0, to: Math.max(0, launch.records - 1),
        first: own ? own.address : used?.first ?? 0, last: own ? own.address + own.size - 1 : used?.last ?? 0,
    }), [launch, own?.allocation, used]);
    const view = state.order && state.order.from < launch.records ? { ...state.order, to: Math.min(state.order.to, whole.to) } : whole;
    const records = view.to - view.from + 1, span = view.last - view.first + 1;
    const wide = Math.max(1, size.width - (LEFT + RIGHT) * unit), tall = Math.max(1, size.height - (TOP + BOTTOM) * unit);
    const columns = Math.max(1, Math.min(records, Math.floor(wide / 2))), rows = Math.max(1, Math.min(span, Math.floor(tall / 2)));
    const order = useAsk(`${launch.launch}|${space}`, used && size.width ? `order|${view.from}|${view.to}|${view.first}|${view.last}|${columns}|${rows}|${JSON.stringify(state.filter)}` : null,
        (signal) => model.source.order(launch.launch, state.filter, space, view.first, view.last, view.from, view.to, columns, rows, signal));
    const image = useRef<HTMLCanvasElement | null>(null);
    const [drag, setDrag] = useState<{ x: number; y: number; toX: number; toY: number } | null>(null);
    const [hint, setHint] = useState("");
    const data = order.data;
    const counts = useMemo(() => (data ? { reads: most(data.reads), writes: most(data.writes), dots: data.reads.reduce((n, v, i) => n + (v || data.writes[i] ? 1 : 0), 0) } : null), [data]);

    const xOf = (record: number) => LEFT * unit + ((record - view.from) / records) * wide;
    const yOf = (byte: number) => TOP * unit + ((byte - view.first) / span) * tall;
    const draw = ({ context, theme, unit: u, small, width }: Brush) => {
        context.fillStyle = theme.background;
        context.fillRect(LEFT * u, TOP * u, wide, tall);
        if (data && counts) {
            const dots = (image.current ??= document.createElement("canvas")), inks = inksOf(theme);
            dots.width = data.columns;
            dots.height = data.rows;
            const ink = dots.getContext("2d")!, pixels = ink.createImageData(data.columns, data.rows);
            for (let i = 0; i < data.reads.length; i++) {
                if (!data.reads[i] && !data.writes[i]) continue;
                const [r, g, b] = blend(inks, data.reads[i]!, data.writes[i]!, counts.reads, counts.writes);
                pixels.data.set([r, g, b, 255], 4 * i);
            }
            ink.putImageData(pixels, 0, 0);
            context.imageSmoothingEnabled = false;
            const x = xOf(data.firstRecord), y = yOf(data.first);
            context.save();
            context.beginPath();
            context.rect(LEFT * u, TOP * u, wide, tall);
            context.clip();
            context.drawImage(dots, x, y, xOf(data.lastRecord + 1) - x, yOf(data.last + 1) - y);
            context.restore();
        }
        context.font = small;
        context.fillStyle = theme.text;
        context.strokeStyle = theme.grid;
        const chosen = state.record;
        if (space === "global") {
            // Allocations as lines with their names, as far as these have room.
            let below = -1e9;
            for (const a of launch.allocations) {
                if (!a.touched || a.address + a.size <= view.first || a.address > view.last) continue;
                const y = Math.max(TOP * u, yOf(a.address));
                context.beginPath();
                context.moveTo(LEFT * u, y + 0.5);
                context.lineTo(LEFT * u + wide, y + 0.5);
                context.stroke();
                if (y < below + 13 * u) continue;
                below = y;
                context.textAlign = "right";
                context.fillText(fitText(context, allocationAt(launch, view.first)?.allocation === a.allocation && view.first > a.address ? addressText(launch, space, view.first) : allocationName(a), (LEFT - 14) * u), (LEFT - 6) * u, y + 7 * u);
            }
        }
        context.textAlign = "right";
        if (space !== "global") context.fillText(`+${count(view.first)} B`, (LEFT - 6) * u, TOP * u + 7 * u);
        context.fillText(fitText(context, addressText(launch, space, view.last), (LEFT - 14) * u), (LEFT - 6) * u, TOP * u + tall - 6 * u);
        context.textAlign = "left";
        context.fillText(count(view.from), LEFT * u, TOP * u + tall + 12 * u);
        context.textAlign = "right";
        context.fillText(count(view.to), width - RIGHT * u, TOP * u + tall + 12 * u);
        context.textAlign = "center";
        context.fillText("request →", LEFT * u + wide / 2, TOP * u + tall + 12 * u);
        const hover = model.hover.get();
        for (const [record, strong] of [[chosen, true], [hover?.record?.index ?? null, false]] as const)
            if (record !== null && record >= view.from && record <= view.to) {
                context.fillStyle = theme.emphasis;
                context.globalAlpha = strong ? 0.9 : 0.5;
                context.fillRect(xOf(record + 0.5) - u / 2, TOP * u, Math.max(1, u), tall);
                context.globalAlpha = 1;
            }
        const range = state.bytes ?? hover?.bytes;
        if (range?.space === space && range.last >= view.first && range.first <= view.last) {
            context.fillStyle = theme.emphasis;
            context.globalAlpha = 0.35;
            context.fillRect(LEFT * u, yOf(Math.max(view.first, range.first)), wide, Math.max(u, yOf(range.last + 1) - yOf(range.first)));
            context.globalAlpha = 1;
        }
        if (drag) {
            context.strokeStyle = theme.emphasis;
            context.setLineDash([4, 3]);
            context.strokeRect(Math.min(drag.x, drag.toX), Math.min(drag.y, drag.toY), Math.abs(drag.toX - drag.x), Math.abs(drag.toY - drag.y));
            context.setLineDash([]);
        }
    };
    const recordAtX = (x: number) => Math.max(view.from, Math.min(view.to, Math.floor(view.from + ((x - LEFT * unit) / wide) * records)));
    const byteAtY = (y: number) => Math.max(view.first, Math.min(view.last, Math.floor(view.first + ((y - TOP * unit) / tall) * span)));
    const show = (from: number, to: number, first: number, last: number) => {
        const leastRecords = Math.min(8, whole.to - whole.from + 1), leastBytes = Math.min(64, whole.last - whole.first + 1);
        const many = Math.max(leastRecords, Math.min(whole.to - whole.from + 1, to - from + 1)), long = Math.max(leastBytes, Math.min(whole.last - whole.first + 1, last - first + 1));
        const a = Math.round(Math.max(whole.from, Math.min(from, whole.to + 1 - many))), b = Math.round(Math.max(whole.first, Math.min(first, whole.last + 1 - long)));
        const all = many >= whole.to - whole.from + 1 && long >= whole.last - whole.first + 1;
        model.set({ order: all ? null : { from: a, to: a + Math.round(many) - 1, first: b, last: b + Math.round(long) - 1 } });
    };
    const leave = () => {
        setHint("");
        if (model.hover.get()?.from === "order") model.hover.set(null);
    };
    if (!used) return <Empty title="No accesses of this launch were recorded." />;
    const single = records <= columns;
    return (
        <>
            <Head tools={<>
                {state.order && <button onClick={() => model.set({ order: null })}>Show all</button>}
                {space === "global" && launch.allocations.filter((a) => a.touched).length > 1 && (
                    <select aria-label="Addresses shown" value={String(own?.allocation ?? "")} onChange={(event) => {
                        const a = launch.allocations.find((x) => String(x.allocation) === event.currentTarget.value);
                        model.set({ order: null, window: a ? { space: "global", first: a.address, last: a.address + a.size - 1 } : null });
                    }}>
                        <option value="">all addresses</option>
                        {launch.allocations.filter((a) => a.touched).map((a) => <option value={String(a.allocation)}>{allocationName(a)}</option>)}
                    </select>
                )}
                {spaces.length > 1 && <Choice label="Space of the order" value={space} options={spaces.map((s): [Space, string] => [s, s])} onChoose={(s) => { setPicked(s); model.set({ order: null, window: null }); }} />}
            </>}>
                <b>{count(records)}</b> requests <span class="soft">{hint || (single ? "each a column; click one" : "drag or turn the wheel to zoom")}</span>
            </Head>
            {order.error && <Failed answer={order} />}
            {counts && !counts.dots && isFiltered(state.filter) && <NothingLeft what="accesses" />}
            <div class="order" ref={place} style={counts && !counts.dots && isFiltered(state.filter) ? { display: "none" } : {}}>
                <Canvas draw={draw} redraw={(paint) => model.hover.watch(paint)} cursor="crosshair"
                    label={`Requests ${view.from} to ${view.to} against ${addressText(launch, space, view.first)} to ${addressText(launch, space, view.last)}: ${count(counts?.dots ?? 0)} of ${count((data?.columns ?? 0) * (data?.rows ?? 0))} dots`}
                    onDown={(x, y) => setDrag({ x, y, toX: x, toY: y })}
                    onMove={(x, y) => {
                        if (drag) return setDrag({ ...drag, toX: x, toY: y });
                        if (x < LEFT * unit || y < TOP * unit || y > TOP * unit + tall) return leave();
                        const byte = byteAtY(y), record = recordAtX(x), text = `request ${count(record)}, ${addressText(launch, space, byte)} (${hex(byte)})`;
                        setHint(text);
                        model.hover.set({ from: "order", record: null, lane: null, bytes: { space, first: byte, last: byte }, touches: null, touchCount: 0, text });
                    }}
                    onLeave={leave}
                    onUp={(x, y) => {
                        if (!drag) return;
                        setDrag(null);
                        if (Math.abs(drag.x - x) < 4 && Math.abs(drag.y - y) < 4) return;
                        const [left, right] = [Math.min(drag.x, x), Math.max(drag.x, x)], [top, bottom] = [Math.min(drag.y, y), Math.max(drag.y, y)];
                        show(recordAtX(left), recordAtX(right), byteAtY(top), byteAtY(bottom));
                    }}
                    onClick={(x, y) => {
                        const record = recordAtX(x);
                        if (single) return model.set({ record, lane: null });
                        const byte = byteAtY(y);
                        show(record - records / 8, record + records / 8, byte - span / 8, byte + span / 8);
                    }}
                    onDouble={() => model.set({ order: null })}
                    onWheel={(x, y, event) => {
                        event.preventDefault();
                        const record = recordAtX(x), byte = byteAtY(y), factor = event.deltaY > 0 || event.deltaX > 0 ? 2 : 0.5, along = event.shiftKey ? 1 : factor;
                        show(record - (record - view.from) * factor, record + (view.to - record) * factor, byte - (byte - view.first) * along, byte + (view.last - byte) * along);
                    }} />
            </div>
        </>
    );
}
