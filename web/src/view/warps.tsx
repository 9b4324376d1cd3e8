// Requests as rows of 32 lanes: who made them, where in the source, what they cost; active lanes in
// the colour of the operation. Lanes under the pointer are the hover that all views follow, and
// lanes that touched the bytes under the pointer elsewhere are outlined here.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format";
import { useAsk } from "./ask";
import { Canvas, drawLetter, fitText, unitOf, type Brush } from "./canvas";
import {
    kindColour,
    kindOf,
    laneText,
    lettersOn,
    operationText,
    recordText,
    touchedLanes,
    useModel,
    widthOf,
} from "./model";
import { Empty, Head, NothingLeft } from "./parts";
import { liveLanes, placeText, pointText } from "./places";
import { RecordPages, valueOf, type One } from "./records";
import { isActive } from "./requests";
import { Scroller, type Rows } from "./scroller";
import { pinToggled } from "./state";
import { valueText } from "./values";

const ROW = 20,
    HEAD = 22;

// Left edges of the columns, in units; lanes take what is left.
function columnsOf(width: number, unit: number) {
    const wide = width / unit > 620;
    const edges = wide
        ? { record: 8, cta: 70, warp: 130, place: 162, operation: 268, lanes: 396 }
        : { record: 8, cta: 66, warp: 120, place: 146, operation: 226, lanes: 290 };
    const cost = wide ? 92 : 70;
    const cell = Math.max(4, Math.min(22, Math.floor(((width / unit - edges.lanes - cost - 8) / 32) * 2) / 2));
    return { ...edges, cell, cost: edges.lanes + 32 * cell + 10, end: edges.lanes + 32 * cell };
}

export function WarpsView() {
    const model = useModel(),
        { launch, state } = model;
    const [, setTick] = useState(0);
    const arrived = useCallback(() => setTick((n) => n + 1), []);
    const key = `${launch.launch}|${JSON.stringify(state.filter)}`;
    const pages = useMemo(() => new RecordPages(model.source, launch.launch, state.filter, arrived), [key]);
    useEffect(() => () => pages.close(), [pages]);
    const position = useAsk(
        launch.launch,
        state.record === null ? null : `position|${state.record}|${JSON.stringify(state.filter)}`,
        (signal) => model.source.position(launch.launch, state.filter, state.record!, signal),
    );
    const [tip, setTip] = useState<{ x: number; y: number; lines: string[] } | null>(null);
    const spot = useRef<Rows>({ top: 0, shown: 1 });
    const size = useRef({ width: 1, unit: 1 });
    if (model.head.page) pages.begin(model.head.page);
    const total = pages.total,
        failed = pages.error ?? model.head.error;
    const unit = unitOf(),
        rowHeight = ROW * unit;

    const draw = (brush: Brush) => {
        const { context, width, theme, unit: u, font, small, mono } = brush,
            columns = columnsOf(width, u),
            { top, shown } = spot.current;
        size.current = { width, unit: u };
        context.font = small;
        context.fillStyle = theme.text;
        const heading = (text: string, x: number) => context.fillText(text, x * u, (HEAD / 2) * u);
        heading("request", columns.record);
        heading("CTA", columns.cta);
        heading("warp", columns.warp);
        heading("line", columns.place);
        heading("operation", columns.operation);
        for (let lane = 0; lane < 32; lane += columns.cell < 9 ? 8 : 4)
            heading(String(lane), columns.lanes + lane * columns.cell + 1);
        heading("moved / ideal", columns.cost);
        context.strokeStyle = theme.grid;
        context.beginPath();
        context.moveTo(0, HEAD * u - 0.5);
        context.lineTo(width, HEAD * u - 0.5);
        context.stroke();
        const touched = touchedLanes(model),
            hover = model.hover.get();
        for (let i = 0; i < shown && top + i < (pages.total ?? 0); i++) {
            const one = pages.at(top + i),
                y = HEAD * u + i * rowHeight,
                middle = y + rowHeight / 2;
            if (!one) {
                context.fillStyle = theme.background;
                context.fillRect(columns.record * u, y + 5 * u, (columns.cost + 60) * u, rowHeight - 10 * u);
                continue;
            }
            const chosen = one.index === state.record,
                site = model.sites.get(one.site);
            if (chosen || hover?.record?.index === one.index) {
                context.fillStyle = chosen ? theme.palette[0] : theme.text;
                context.globalAlpha = chosen ? 0.16 : 0.08;
                context.fillRect(0, y, width, rowHeight);
                context.globalAlpha = 1;
                if (chosen) context.fillRect(0, y, 3 * u, rowHeight);
            }
            const cell = (text: string, from: number, to: number, face: string) => {
                context.font = face;
                context.fillText(fitText(context, text, (to - from - 6) * u), from * u, middle);
            };
            context.fillStyle = theme.text;
            cell(count(one.index), columns.record, columns.cta, mono);
            cell(pointText(one.cta, launch.grid), columns.cta, columns.warp, mono);
            cell(String(one.warp), columns.warp, columns.place, mono);
            context.fillStyle = theme.emphasis;
            cell(placeText(model.run, site), columns.place, columns.operation, font);
            cell(
                `${operationText(model, one)}${one.space === "global" ? "" : ` ${one.space}`}`,
                columns.operation,
                columns.lanes,
                font,
            );
            drawLanes(brush, one, columns, y, touched);
            drawCost(brush, one, columns, y, width);
        }
    };
    const drawLanes = (
        { context, theme, unit: u, small }: Brush,
        one: One,
        columns: ReturnType<typeof columnsOf>,
        y: number,
        touched: Set<string>,
    ) => {
        const live = liveLanes(launch, one.warp),
            colour = kindColour(theme, kindOf(model, one.site)),
            hover = model.hover.get();
        const wide = columns.cell * u,
            tall = rowHeight - 6 * u,
            top = y + 3 * u,
            letters = lettersOn(model, one);
        for (let lane = 0; lane < live; lane++) {
            const x = columns.lanes * u + lane * wide,
                active = isActive(one.mask, lane);
            context.fillStyle = active ? colour : theme.grid;
            context.globalAlpha = active ? 1 : 0.55;
            context.fillRect(x, top, Math.max(1, wide - u), tall);
            context.globalAlpha = 1;
            const name = letters.get(lane);
            if (name) {
                context.font = small;
                drawLetter(context, theme, name, x + wide / 2 - u / 2, top + tall / 2, wide - u, tall);
                context.textAlign = "left";
            }
            const lit =
                touched.has(`${one.index}.${lane}`) ||
                (hover?.record?.index === one.index && hover.lane === lane) ||
                (one.index === state.record && state.lane === lane);
            if (lit) {
                context.strokeStyle = theme.emphasis;
                context.lineWidth = 2 * u;
                context.strokeRect(x, top, wide - u, tall);
                context.lineWidth = 1;
            }
        }
    };
    const drawCost = (
        { context, theme, unit: u, mono }: Brush,
        one: One,
        columns: ReturnType<typeof columnsOf>,
        y: number,
        width: number,
    ) => {
        const moved = one.space === "shared" ? one.wavefronts : one.sectors,
            ideal = one.space === "shared" ? one.idealWavefronts : one.idealSectors;
        const x = columns.cost * u,
            wide = Math.min(44 * u, width - x - 44 * u),
            share = moved ? ideal / moved : 1;
        if (wide > 12 * u) {
            context.fillStyle = share >= 0.999 ? theme.grid : theme.alarm;
            context.globalAlpha = share >= 0.999 ? 1 : 0.35;
            context.fillRect(x, y + 7 * u, wide, rowHeight - 14 * u);
            context.globalAlpha = 1;
            context.fillStyle = theme.palette[2]!;
            context.fillRect(x, y + 7 * u, wide * Math.min(1, share), rowHeight - 14 * u);
        }
        context.font = mono;
        context.fillStyle = share < 0.999 ? theme.alarm : theme.text;
        context.fillText(`${moved}/${ideal}`, x + Math.max(0, wide) + 6 * u, y + rowHeight / 2);
    };
    const at = (x: number, y: number) => {
        const u = size.current.unit,
            columns = columnsOf(size.current.width, u),
            row = Math.floor((y - HEAD * u) / rowHeight);
        const one = row >= 0 ? pages.at(spot.current.top + row) : null;
        if (!one) return null;
        const lane = Math.floor((x / u - columns.lanes) / columns.cell);
        return { one, lane: lane >= 0 && lane < liveLanes(launch, one.warp) ? lane : null };
    };
    const move = (x: number, y: number) => {
        const under = at(x, y);
        if (!under) return leave();
        const { one, lane } = under,
            active = lane !== null && isActive(one.mask, lane);
        model.hover.set({
            from: "warps",
            record: one,
            lane: active ? lane : null,
            bytes: null,
            touches: null,
            touchCount: 0,
            text: lane === null ? recordText(model, one) : laneText(model, one, lane),
        });
        if (lane === null) return setTip(null);
        const value = active ? valueOf(one, lane, widthOf(model, one.site)) : null;
        setTip({
            x,
            y,
            lines: [
                laneText(model, one, lane),
                ...(value ? [`value ${valueText(value, model.sites.get(one.site)?.type ?? null)}`] : []),
            ],
        });
    };
    const leave = () => {
        setTip(null);
        if (model.hover.get()?.from === "warps") model.hover.set(null);
    };
    const goTo =
        position.data !== null && position.data >= 0 && !position.waiting
            ? { row: position.data, round: state.record ?? 0 }
            : null;
    const hidden = state.record !== null && position.data === -1 && !position.waiting;
    return (
        <>
            <Head tools={hidden && <span class="soft">request {count(state.record!)} is outside the filter</span>}>
                <b>{total === null ? "…" : count(total)}</b> requests{" "}
                <span class="soft">one row of 32 lanes each, in recorded order</span>
            </Head>
            {failed ? (
                <Empty title="The requests could not be read.">
                    <p>{failed}</p>
                    <button
                        onClick={() => {
                            pages.error = null;
                            model.head.retry();
                            arrived();
                        }}
                    >
                        Try again
                    </button>
                </Empty>
            ) : total === 0 ? (
                <NothingLeft what="requests" />
            ) : (
                <Scroller total={total ?? 0} rowHeight={rowHeight} head={HEAD * unit} goTo={goTo}>
                    {(rows) => {
                        spot.current = rows;
                        pages.want(rows.top, Math.min(rows.top + rows.shown, total ?? 1));
                        const first = pages.at(rows.top);
                        return (
                            <Canvas
                                draw={draw}
                                redraw={(paint) => model.hover.watch(paint)}
                                cursor="pointer"
                                label={
                                    `${count(total ?? 0)} requests, from row ${rows.top}` +
                                    `${first ? `: ${recordText(model, first)}` : ""}`
                                }
                                onMove={move}
                                onLeave={leave}
                                onClick={(x, y, event) => {
                                    const under = at(x, y);
                                    if (!under) return;
                                    const lane =
                                        under.lane !== null && isActive(under.one.mask, under.lane) ? under.lane : null;
                                    if (event.shiftKey)
                                        model.set({ pins: pinToggled(state.pins, { index: under.one.index, lane }) });
                                    else model.set({ record: under.one.index, lane });
                                }}
                            />
                        );
                    }}
                </Scroller>
            )}
            {tip && (
                <div
                    class="tip"
                    style={{
                        left: `${Math.max(4, Math.min(tip.x + 12, size.current.width - 380 * unit))}px`,
                        top: `${tip.y + 56 * unit}px`,
                    }}
                >
                    {tip.lines.map((line) => (
                        <div>{line}</div>
                    ))}
                </div>
            )}
        </>
    );
}
