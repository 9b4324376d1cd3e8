// Requests as rows of 32 lanes: who made them, where in the source, what they cost; active lanes in
// the colour of the operation. Lanes under the pointer are the hover that all views follow, and
// lanes that touched the bytes under the pointer elsewhere are outlined here.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, counted } from "../format";
import { useAsk } from "./ask";
import { Canvas, drawLetter, unitOf, type Brush } from "./canvas";
import { fitText } from "./fit-text";
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
    type Model,
} from "./model";
import { Empty, Head, NothingLeft } from "./parts";
import { liveLanes, placeText, pointText } from "./places";
import { RecordPages, valueOf, type One } from "./records";
import { isActive } from "./requests";
import { Scroller, type Rows } from "./scroller";
import { pinToggled } from "./state";
import { valueText } from "./values";

const ROW = 20,
    HEAD = 22,
    MARGIN = 8, // behind a number
    TIP_WIDTH = 380;

// Left edges of the columns, in units. Numbers of records and CTAs are never cut off: their columns are as wide as
// the largest of them; lanes take what is left.
export function columnsOf(width: number, largest: { record: number; cta: number }) {
    const wide = width > 620;
    const edges = wide
        ? { record: 8, cta: 70, warp: 130, place: 162, operation: 268, lanes: 396 }
        : { record: 8, cta: 66, warp: 120, place: 146, operation: 226, lanes: 290 };
    const byRecord = Math.max(0, largest.record + MARGIN - (edges.cta - edges.record)),
        byCta = byRecord + Math.max(0, largest.cta + MARGIN - (edges.warp - edges.cta)),
        lanes = edges.lanes + byCta;
    const cost = wide ? 92 : 70;
    const cell = Math.max(4, Math.min(22, Math.floor(((width - lanes - cost - 8) / 32) * 2) / 2));
    return {
        record: edges.record,
        cta: edges.cta + byRecord,
        warp: edges.warp + byCta,
        place: edges.place + byCta,
        operation: edges.operation + byCta,
        lanes,
        cell,
        cost: lanes + 32 * cell + 10,
        end: lanes + 32 * cell,
    };
}

// The columns of what is drawn: a sample's records may have larger numbers than the launch has records.
function columnsFor({ context, width, unit, mono }: Brush, { launch }: Model, shown: (One | null)[]) {
    const ctas = launch.grid.reduce((product, extent) => product * extent, 1),
        record = Math.max(launch.records - 1, ...shown.map((one) => one?.index ?? 0));
    context.font = mono;
    const widthOf = (text: string) => context.measureText(text).width / unit;
    return columnsOf(width / unit, { record: widthOf(count(record)), cta: widthOf(pointText(ctas - 1, launch.grid)) });
}

// What the rows of a picture are drawn with.
interface Hand {
    brush: Brush;
    model: Model;
    columns: ReturnType<typeof columnsOf>;
    touched: Set<string>; // lanes to be outlined: "record.lane"
}

function drawHeadings({ brush: { context, width, theme, unit, small }, columns }: Hand): void {
    context.font = small;
    context.fillStyle = theme.text;
    const heading = (text: string, x: number) => context.fillText(text, x * unit, (HEAD / 2) * unit);
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
    context.moveTo(0, HEAD * unit - 0.5);
    context.lineTo(width, HEAD * unit - 0.5);
    context.stroke();
}

// In place of a row that has not arrived.
function drawAwaited({ brush: { context, theme, unit }, columns }: Hand, y: number): void {
    context.fillStyle = theme.background;
    context.fillRect(columns.record * unit, y + 5 * unit, (columns.cost + 60) * unit, (ROW - 10) * unit);
}

function drawRow(hand: Hand, one: One, y: number): void {
    const { brush, model, columns } = hand,
        { context, width, theme, unit, font, mono } = brush,
        { launch, state } = model,
        tall = ROW * unit,
        chosen = one.index === state.record;
    if (chosen || model.hover.get()?.record?.index === one.index) {
        context.fillStyle = chosen ? theme.palette[0] : theme.text;
        context.globalAlpha = chosen ? 0.16 : 0.08;
        context.fillRect(0, y, width, tall);
        context.globalAlpha = 1;
        if (chosen) context.fillRect(0, y, 3 * unit, tall);
    }
    const cell = (text: string, from: number, to: number, face: string) => {
        context.font = face;
        context.fillText(fitText(context, text, (to - from - 6) * unit), from * unit, y + tall / 2);
    };
    const space = one.space === "global" ? "" : ` ${one.space}`;
    context.fillStyle = theme.text;
    cell(count(one.index), columns.record, columns.cta, mono);
    cell(pointText(one.cta, launch.grid), columns.cta, columns.warp, mono);
    cell(String(one.warp), columns.warp, columns.place, mono);
    context.fillStyle = theme.emphasis;
    cell(placeText(model.run, model.sites.get(one.site)), columns.place, columns.operation, font);
    cell(`${operationText(model, one)}${space}`, columns.operation, columns.lanes, font);
    drawLanes(hand, one, y);
    drawCost(hand, one, y);
}

function drawLanes({ brush, model, columns, touched }: Hand, one: One, y: number): void {
    const { context, theme, unit, small } = brush,
        { launch, state } = model;
    const live = liveLanes(launch, one.warp),
        colour = kindColour(theme, kindOf(model, one.site)),
        hover = model.hover.get();
    const wide = columns.cell * unit,
        tall = (ROW - 6) * unit,
        top = y + 3 * unit,
        letters = lettersOn(model, one);
    for (let lane = 0; lane < live; lane++) {
        const x = columns.lanes * unit + lane * wide,
            active = isActive(one.mask, lane);
        context.fillStyle = active ? colour : theme.grid;
        context.globalAlpha = active ? 1 : 0.55;
        context.fillRect(x, top, Math.max(1, wide - unit), tall);
        context.globalAlpha = 1;
        const name = letters.get(lane);
        if (name) {
            context.font = small;
            drawLetter(context, theme, name, x + wide / 2 - unit / 2, top + tall / 2, wide - unit, tall);
            context.textAlign = "left";
        }
        const lit =
            touched.has(`${one.index}.${lane}`) ||
            (hover?.record?.index === one.index && hover.lane === lane) ||
            (one.index === state.record && state.lane === lane);
        if (lit) {
            context.strokeStyle = theme.emphasis;
            context.lineWidth = 2 * unit;
            context.strokeRect(x, top, wide - unit, tall);
            context.lineWidth = 1;
        }
    }
}

// What the request moves against what it would at best: sectors, or wavefronts of shared memory.
function drawCost({ brush: { context, theme, unit, mono, width }, columns }: Hand, one: One, y: number): void {
    const moved = one.space === "shared" ? one.wavefronts : one.sectors,
        ideal = one.space === "shared" ? one.idealWavefronts : one.idealSectors;
    const x = columns.cost * unit,
        wide = Math.min(44 * unit, width - x - 44 * unit),
        tall = (ROW - 14) * unit,
        share = moved ? ideal / moved : 1;
    if (wide > 12 * unit) {
        context.fillStyle = share >= 0.999 ? theme.grid : theme.alarm;
        context.globalAlpha = share >= 0.999 ? 1 : 0.35;
        context.fillRect(x, y + 7 * unit, wide, tall);
        context.globalAlpha = 1;
        context.fillStyle = theme.palette[2]!;
        context.fillRect(x, y + 7 * unit, wide * Math.min(1, share), tall);
    }
    context.font = mono;
    context.fillStyle = share < 0.999 ? theme.alarm : theme.text;
    context.fillText(`${moved}/${ideal}`, x + Math.max(0, wide) + 6 * unit, y + (ROW * unit) / 2);
}

// The requests that the filter lets through, page by page as they come into sight.
function useRequests({ source, launch, state, head }: Model) {
    const [, setTick] = useState(0);
    const arrived = useCallback(() => setTick((n) => n + 1), []);
    const key = `${launch.launch}|${JSON.stringify(state.filter)}`;
    const pages = useMemo(() => new RecordPages(source, launch.launch, state.filter, arrived), [key]);
    useEffect(() => () => pages.close(), [pages]);
    if (head.page) pages.begin(head.page);
    const retry = () => {
        pages.error = null;
        head.retry();
        arrived();
    };
    return { pages, failed: pages.error ?? head.error, retry };
}

// The row of the selected request; -1: the filter hides it; null: none is selected, or it is on its way.
function useSelectedRow({ source, launch, state }: Model): number | null {
    const position = useAsk(
        launch.launch,
        state.record === null ? null : `position|${state.record}|${JSON.stringify(state.filter)}`,
        (signal) => source.position(launch.launch, state.filter, state.record!, signal),
    );
    return position.waiting ? null : position.data;
}

interface Tip {
    left: number; // pixels in the pane
    top: number;
    lines: string[];
}

export function WarpsView() {
    const model = useModel(),
        { state } = model,
        { pages, failed, retry } = useRequests(model),
        { total } = pages,
        row = useSelectedRow(model),
        unit = unitOf();
    const [tip, setTip] = useState<Tip | null>(null);
    const goTo = row !== null && row >= 0 ? { row, round: state.record ?? 0 } : null,
        hidden = state.record !== null && row === -1;
    return (
        <>
            <Head tools={hidden && <span class="soft">request {count(state.record!)} is outside the filter</span>}>
                <b>{total === null ? "…" : count(total)}</b> requests{" "}
                <span class="soft">one row of 32 lanes each, in recorded order</span>
            </Head>
            {failed ? (
                <Empty title="The requests could not be read.">
                    <p>{failed}</p>
                    <button onClick={retry}>Try again</button>
                </Empty>
            ) : total === 0 ? (
                <NothingLeft what="requests" />
            ) : (
                <Scroller total={total ?? 0} rowHeight={ROW * unit} head={HEAD * unit} goTo={goTo}>
                    {(rows) => <RequestRows pages={pages} rows={rows} onTip={setTip} />}
                </Scroller>
            )}
            {tip && (
                <div class="tip" style={{ left: `${tip.left}px`, top: `${tip.top}px` }}>
                    {tip.lines.map((line) => (
                        <div>{line}</div>
                    ))}
                </div>
            )}
        </>
    );
}

interface RequestRowsProps {
    pages: RecordPages;
    rows: Rows;
    onTip: (tip: Tip | null) => void;
}
function RequestRows({ pages, rows: { top, shown }, onTip }: RequestRowsProps) {
    const model = useModel(),
        { launch, state } = model,
        total = pages.total ?? 0;
    const drawn = useRef<{ columns: Hand["columns"]; width: number; unit: number } | null>(null);
    pages.want(top, Math.min(top + shown, pages.total ?? 1));
    const first = pages.at(top);

    const draw = (brush: Brush) => {
        const { width, unit } = brush,
            ones = Array.from({ length: Math.min(shown, Math.ceil(total - top)) }, (_, i) => pages.at(top + i)),
            columns = columnsFor(brush, model, ones),
            hand = { brush, model, columns, touched: touchedLanes(model) };
        drawn.current = { columns, width, unit };
        drawHeadings(hand);
        ones.forEach((one, i) => {
            const y = (HEAD + i * ROW) * unit;
            if (one) drawRow(hand, one, y);
            else drawAwaited(hand, y);
        });
    };
    const under = (x: number, y: number) => {
        if (!drawn.current) return null;
        const { columns, unit } = drawn.current,
            row = Math.floor((y - HEAD * unit) / (ROW * unit));
        const one = row >= 0 ? pages.at(top + row) : null;
        if (!one) return null;
        const lane = Math.floor((x / unit - columns.lanes) / columns.cell);
        return { one, lane: lane >= 0 && lane < liveLanes(launch, one.warp) ? lane : null };
    };
    const leave = () => {
        onTip(null);
        if (model.hover.get()?.from === "warps") model.hover.set(null);
    };
    const move = (x: number, y: number) => {
        const at = under(x, y);
        if (!at) return leave();
        const { one, lane } = at,
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
        if (lane === null) return onTip(null);
        const { width, unit } = drawn.current!,
            value = active ? valueOf(one, lane, widthOf(model, one.site)) : null;
        onTip({
            left: Math.max(4, Math.min(x + 12, width - TIP_WIDTH * unit)),
            top: y + 56 * unit,
            lines: [
                laneText(model, one, lane),
                ...(value ? [`value ${valueText(value, model.sites.get(one.site)?.type ?? null)}`] : []),
            ],
        });
    };
    const select = (x: number, y: number, event: MouseEvent) => {
        const at = under(x, y);
        if (!at) return;
        const { index, mask } = at.one,
            lane = at.lane !== null && isActive(mask, at.lane) ? at.lane : null;
        if (event.shiftKey) model.set({ pins: pinToggled(state.pins, { index, lane }) });
        else model.set({ record: index, lane });
    };
    return (
        <Canvas
            draw={draw}
            redraw={(paint) => model.hover.watch(paint)}
            cursor="pointer"
            label={
                `${counted(total, "request", "requests")}, from row ${top}` +
                (first ? `: ${recordText(model, first)}` : "")
            }
            onMove={move}
            onLeave={leave}
            onClick={select}
        />
    );
}
