// What a request moves: a row per line of 128 bytes, its four sectors of 32. Bytes that lanes asked
// for are in the operation's colour with the lane's number; what comes along unused is red. A line of
// local memory holds one word of each lane's frame.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, counted, percent } from "../format";
import { useRequest } from "./banks";
import { Canvas, drawLetter, unitOf, type Brush } from "./canvas";
import { fitText } from "./fit-text";
import { Executions } from "./executions";
import { kindColour, kindOf, laneText, lettersOn, operationText, useModel, widthOf } from "./model";
import { Empty, Failed, Head, NothingLeft, Unrecorded } from "./parts";
import { inkOn } from "./paint";
import { addressText, placeText, pointText } from "./places";
import type { One } from "./records";
import {
    LINE_BYTES,
    SECTOR_BYTES,
    firstLocalWord,
    layoutText,
    piecesOf,
    sectorCost,
    unitsOfPieces,
    type Piece,
} from "./requests";
import { hex } from "./state";

const ROW = 19,
    TOP = 20,
    LABEL = 150,
    GAP = 12;

export function SectorsView() {
    const model = useModel(),
        { launch } = model;
    const request = useRequest(model, ["global", "local"]),
        { one } = request;
    if (!launch.spaces.length) return <Unrecorded />;
    if (!launch.spaces.some((s) => s.space !== "shared"))
        return (
            <Empty title="This launch has no recorded requests to global or local memory.">
                Its requests are in{" "}
                <button class="link" onClick={() => model.set({ view: "banks" })}>
                    Banks
                </button>
                .
            </Empty>
        );
    if (request.error) return <Failed answer={request} />;
    if (!one)
        return request.waiting ? (
            <p class="soft working pad">Loading a request</p>
        ) : (
            <NothingLeft what="requests to global or local memory" />
        );
    const width = widthOf(model, one.site),
        cost = sectorCost(one.addresses, one.mask, width, one.space),
        used = cost.distinctBytes / (SECTOR_BYTES * cost.sectors);
    return (
        <>
            <Head>
                <b>{operationText(model, one)}</b>{" "}
                <span class="soft">
                    {request.chosen ? "the selected request" : "the first request; select another in Warps"}:{" "}
                    {placeText(model.run, model.sites.get(one.site))}, CTA {pointText(one.cta, launch.grid)}, warp{" "}
                    {one.warp}
                </span>
            </Head>
            <Executions one={one} />
            <div class="sectorview scrolled">
                <p class={`verdict ${cost.sectors > cost.ideal ? (used < 0.4 ? "poor" : "fair") : "good"}`}>
                    <b>{counted(cost.sectors, "sector", "sectors")}</b>{" "}
                    <span>
                        ideal: {cost.ideal} · {counted(cost.lines, "line", "lines")} of 128 B ·{" "}
                        {count(cost.distinctBytes)} of {count(SECTOR_BYTES * cost.sectors)} B transferred are used (
                        {percent(used)}) · {layoutText(one.addresses, one.mask, width, one.space)}
                    </span>
                </p>
                <Lines one={one} width={width} />
            </div>
        </>
    );
}

// A request's bytes: the lines that it touches, from top to bottom, the sectors that it transfers, and
// which lanes want a byte.
interface Touched {
    pieces: Piece[];
    lines: { line: number; y: number; skipped: number }[]; // skipped: lines between it and the one before
    height: number; // in units, as `y`
    sectors: Set<number>;
    byteLanes: Map<number, number[]>;
}

function touchedBy({ addresses, mask, space }: One, width: number): Touched {
    const pieces = piecesOf(addresses, mask, width, space);
    let y = TOP,
        before = -1;
    const lines = unitsOfPieces(pieces, LINE_BYTES).map(({ unit: line }) => {
        const skipped = before >= 0 ? line - before - 1 : 0;
        if (skipped) y += GAP;
        before = line;
        const row = { line, y, skipped };
        y += ROW;
        return row;
    });
    return {
        pieces,
        lines,
        height: y + 8,
        sectors: new Set(unitsOfPieces(pieces, SECTOR_BYTES).map((s) => s.unit)),
        byteLanes: new Map(unitsOfPieces(pieces, 1).map((b) => [b.unit, b.lanes])),
    };
}

const columnsOf = (total: number, unit: number) => ({
    left: LABEL * unit,
    byte: Math.max(2, Math.min(9 * unit, (total - (LABEL + 10) * unit) / LINE_BYTES)),
});

// Each line with its address and its four sectors, those that are transferred in red.
function drawLines(brush: Brush, { lines, sectors }: Touched, nameOf: (line: number) => string): void {
    const { context, width, unit: u, theme, small } = brush,
        { left, byte } = columnsOf(width, u),
        tall = (ROW - 3) * u;
    context.font = small;
    context.fillStyle = theme.text;
    context.textAlign = "center";
    for (let sector = 0; sector < 4; sector++)
        context.fillText(`+${sector * SECTOR_BYTES}`, left + (sector + 0.5) * SECTOR_BYTES * byte, (TOP / 2) * u);
    for (const { line, y, skipped } of lines) {
        const top = y * u;
        context.textAlign = "right";
        context.fillStyle = theme.text;
        if (skipped) {
            context.globalAlpha = 0.7;
            context.fillText(`${counted(skipped, "line", "lines")} between`, left - 8 * u, top - (GAP / 2) * u - u);
            context.globalAlpha = 1;
        }
        context.fillText(fitText(context, nameOf(line), (LABEL - 16) * u), left - 8 * u, top + tall / 2);
        for (let sector = 0; sector < 4; sector++) {
            const x = left + sector * SECTOR_BYTES * byte,
                moved = sectors.has((line * LINE_BYTES) / SECTOR_BYTES + sector);
            context.fillStyle = moved ? theme.alarm : theme.background;
            context.globalAlpha = moved ? 0.3 : 1;
            context.fillRect(x + u / 2, top, SECTOR_BYTES * byte - u, tall);
            context.globalAlpha = 1;
        }
    }
}

interface LaneMarks {
    colour: string;
    letters: Map<number, string>; // of pinned lanes
    outlined: (number | null)[]; // the selected lane and the one pointed at
}

// The bytes that each lane wants, with its number where there is room; some lie in two lines.
function drawLanes(brush: Brush, { pieces, lines }: Touched, marks: LaneMarks) {
    const { context, width: total, unit: u, theme } = brush,
        { left, byte } = columnsOf(total, u),
        tall = (ROW - 3) * u,
        topOf = new Map(lines.map((row) => [row.line, row.y * u]));
    context.textAlign = "center";
    for (const { lane, start, length } of pieces) {
        const letter = marks.letters.get(lane);
        for (let at = start; at < start + length;) {
            const line = Math.floor(at / LINE_BYTES),
                end = Math.min(start + length, (line + 1) * LINE_BYTES);
            const x = left + (at - line * LINE_BYTES) * byte,
                top = topOf.get(line)!,
                w = (end - at) * byte,
                middle = top + tall / 2;
            context.fillStyle = marks.colour;
            context.fillRect(x + u / 2, top, Math.max(1, w - u), tall);
            if (letter)
                drawLetter(context, theme, letter, x + w / 2, middle, Math.max(11 * u, Math.min(w, 16 * u)), tall);
            else if (w >= 13 * u) {
                context.fillStyle = inkOn(marks.colour);
                context.fillText(String(lane), x + w / 2, middle + 0.5);
            }
            if (marks.outlined.includes(lane)) {
                context.strokeStyle = theme.emphasis;
                context.lineWidth = 2 * u;
                context.strokeRect(x, top - u, w, tall + 2 * u);
            }
            at = end;
        }
    }
}

function Lines({ one, width }: { one: One; width: number }) {
    const model = useModel(),
        { launch, state } = model,
        unit = unitOf();
    const touched = useMemo(() => touchedBy(one, width), [one, width]),
        { lines, sectors, byteLanes } = touched;
    const wide = useRef(1);
    const isLocal = one.space === "local";
    // Where a byte of the picture lies in the address space; of local memory: in the lane's frame.
    const offsetOf = (at: number) =>
        isLocal ? 4 * (firstLocalWord(one.addresses, one.mask) + Math.floor(at / LINE_BYTES)) + (at % 4) : at;
    const nameOf = (line: number) => addressText(launch, one.space, offsetOf(line * LINE_BYTES));
    const draw = (brush: Brush) => {
        wide.current = brush.width;
        const hover = model.hover.get(),
            pointed = hover?.record?.index === one.index ? hover.lane : null,
            chosen = state.record === one.index ? state.lane : null;
        drawLines(brush, touched, nameOf);
        drawLanes(brush, touched, {
            colour: kindColour(brush.theme, kindOf(model, one.site)),
            letters: lettersOn(model, one),
            outlined: [pointed, chosen],
        });
    };
    const under = (x: number, y: number): { lanes: number[]; byte: number } | null => {
        const { left, byte } = columnsOf(wide.current, unit),
            row = lines.find((r) => y >= r.y * unit && y < (r.y + ROW) * unit);
        if (!row || x < left || x >= left + LINE_BYTES * byte) return null;
        const at = row.line * LINE_BYTES + Math.floor((x - left) / byte);
        return { lanes: byteLanes.get(at) ?? [], byte: at };
    };
    const textOf = (byte: number, lanes: number[]) => {
        if (lanes.length)
            return (
                laneText(model, one, lanes[0]) +
                (lanes.length > 1 ? `, and ${counted(lanes.length - 1, "more lane", "more lanes")}` : "")
            );
        const moved = sectors.has(Math.floor(byte / SECTOR_BYTES));
        return (
            `${addressText(launch, one.space, offsetOf(byte))} (${hex(offsetOf(byte))}): ` +
            `${moved ? "transferred, but not used by this request" : "not transferred"}`
        );
    };
    const leave = () => {
        if (model.hover.get()?.from === "sectors") model.hover.set(null);
    };
    useEffect(() => leave, [one]);
    const move = (x: number, y: number) => {
        const at = under(x, y);
        if (!at) return leave();
        const lane = at.lanes[0] ?? null;
        model.hover.set({
            from: "sectors",
            record: lane === null ? null : one,
            lane,
            bytes: { space: one.space, first: offsetOf(at.byte), last: offsetOf(at.byte) },
            touches: null,
            touchCount: 0,
            text: textOf(at.byte, at.lanes),
        });
    };
    const select = (x: number, y: number) => {
        const lane = under(x, y)?.lanes[0];
        if (lane === undefined) return;
        const same = state.record === one.index && state.lane === lane;
        model.set({ record: one.index, lane: same ? null : lane });
    };
    return (
        <Canvas
            draw={draw}
            redraw={(paint) => model.hover.watch(paint)}
            height={touched.height * unit}
            cursor="pointer"
            class="sectors"
            label={
                `${counted(sectors.size, "sector", "sectors")} in ${counted(lines.length, "line", "lines")} ` +
                `transferred for ${counted(byteLanes.size, "byte", "bytes")}`
            }
            onMove={move}
            onLeave={leave}
            onClick={select}
        />
    );
}
