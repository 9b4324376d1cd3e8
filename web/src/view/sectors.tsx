// What a request moves: a row per line of 128 bytes, its four sectors of 32. Bytes that lanes asked
// for are in the operation's colour with the lane's number; what comes along unused is red.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, percent } from "../format";
import { useRequest } from "./banks";
import { Canvas, drawLetter, fitText, unitOf, type Brush } from "./canvas";
import { Executions } from "./executions";
import { kindColour, kindOf, laneText, lettersOn, operationText, useModel, widthOf } from "./model";
import { Empty, Failed, Head, NothingLeft, plural, Unrecorded } from "./parts";
import { inkOn } from "./paint";
import { addressText, placeText, pointText } from "./places";
import type { One } from "./records";
import { LINE_BYTES, SECTOR_BYTES, lanesOf, layoutText, sectorCost, unitsOf } from "./requests";
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
        cost = sectorCost(one.addresses, one.mask, width),
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
                    <b>
                        {count(cost.sectors)} {plural(cost.sectors, "sector")}
                    </b>{" "}
                    <span>
                        ideal: {cost.ideal} · {count(cost.lines)} {plural(cost.lines, "line")} of 128 B ·{" "}
                        {count(cost.distinctBytes)} of {count(SECTOR_BYTES * cost.sectors)} B transferred are used (
                        {percent(used)}) · {layoutText(one.addresses, one.mask, width)}
                    </span>
                </p>
                <Lines one={one} width={width} />
            </div>
        </>
    );
}

function Lines({ one, width }: { one: One; width: number }) {
    const model = useModel(),
        { launch, state } = model,
        unit = unitOf();
    // Lines from top to bottom, with a gap where some between are not touched.
    const rows = useMemo(() => {
        let y = TOP,
            before = -1;
        const list = unitsOf(one.addresses, one.mask, width, LINE_BYTES).map(({ unit: line }) => {
            const skipped = before >= 0 ? line - before - 1 : 0;
            if (skipped) y += GAP;
            before = line;
            const row = { line, y, skipped };
            y += ROW;
            return row;
        });
        return { list, height: y + 8 };
    }, [one, width]);
    const sectors = useMemo(
        () => new Set(unitsOf(one.addresses, one.mask, width, SECTOR_BYTES).map((s) => s.unit)),
        [one, width],
    );
    const byteLanes = useMemo(
        () => new Map(unitsOf(one.addresses, one.mask, width, 1).map((b) => [b.unit, b.lanes])),
        [one, width],
    );
    const wide = useRef(1);
    const geometry = (total: number, u: number) => ({
        left: LABEL * u,
        byte: Math.max(2, Math.min(9 * u, (total - (LABEL + 10) * u) / LINE_BYTES)),
    });
    const draw = ({ context, width: total, unit: u, theme, small }: Brush) => {
        wide.current = total;
        const { left, byte } = geometry(total, u),
            tall = (ROW - 3) * u,
            colour = kindColour(theme, kindOf(model, one.site));
        const hover = model.hover.get(),
            pointed = hover?.record?.index === one.index ? hover.lane : null,
            chosen = state.record === one.index ? state.lane : null;
        context.font = small;
        context.fillStyle = theme.text;
        context.textAlign = "center";
        for (let sector = 0; sector < 4; sector++)
            context.fillText(`+${sector * SECTOR_BYTES}`, left + (sector + 0.5) * SECTOR_BYTES * byte, (TOP / 2) * u);
        for (const { line, y, skipped } of rows.list) {
            const top = y * u;
            context.textAlign = "right";
            context.fillStyle = theme.text;
            if (skipped) {
                context.globalAlpha = 0.7;
                context.fillText(
                    `${count(skipped)} line${skipped === 1 ? "" : "s"} between`,
                    left - 8 * u,
                    top - (GAP / 2) * u - u,
                );
                context.globalAlpha = 1;
            }
            context.fillText(
                fitText(context, addressText(launch, one.space, line * LINE_BYTES), (LABEL - 16) * u),
                left - 8 * u,
                top + tall / 2,
            );
            for (let sector = 0; sector < 4; sector++) {
                const x = left + sector * SECTOR_BYTES * byte,
                    moved = sectors.has((line * LINE_BYTES) / SECTOR_BYTES + sector);
                context.fillStyle = moved ? theme.alarm : theme.background;
                context.globalAlpha = moved ? 0.3 : 1;
                context.fillRect(x + u / 2, top, SECTOR_BYTES * byte - u, tall);
                context.globalAlpha = 1;
            }
        }
        const letters = lettersOn(model, one),
            topOf = new Map(rows.list.map((row) => [row.line, row.y * u]));
        context.textAlign = "center";
        for (const lane of lanesOf(one.mask)) {
            const first = one.addresses[lane];
            for (let at = first; at < first + width;) {
                const line = Math.floor(at / LINE_BYTES),
                    end = Math.min(first + width, (line + 1) * LINE_BYTES);
                const x = left + (at - line * LINE_BYTES) * byte,
                    top = topOf.get(line)!,
                    w = (end - at) * byte;
                context.fillStyle = colour;
                context.fillRect(x + u / 2, top, Math.max(1, w - u), tall);
                const letter = letters.get(lane);
                if (letter)
                    drawLetter(
                        context,
                        theme,
                        letter,
                        x + w / 2,
                        top + tall / 2,
                        Math.max(11 * u, Math.min(w, 16 * u)),
                        tall,
                    );
                else if (w >= 13 * u) {
                    context.fillStyle = inkOn(colour);
                    context.fillText(String(lane), x + w / 2, top + tall / 2 + 0.5);
                }
                if (lane === pointed || lane === chosen) {
                    context.strokeStyle = theme.emphasis;
                    context.lineWidth = 2 * u;
                    context.strokeRect(x, top - u, w, tall + 2 * u);
                }
                at = end;
            }
        }
    };
    const lanesAt = (x: number, y: number): { lanes: number[]; byte: number } | null => {
        const { left, byte } = geometry(wide.current, unit),
            row = rows.list.find((r) => y >= r.y * unit && y < (r.y + ROW) * unit);
        if (!row || x < left || x >= left + LINE_BYTES * byte) return null;
        const at = row.line * LINE_BYTES + Math.floor((x - left) / byte);
        return { lanes: byteLanes.get(at) ?? [], byte: at };
    };
    const leave = () => {
        if (model.hover.get()?.from === "sectors") model.hover.set(null);
    };
    useEffect(() => leave, [one]);
    return (
        <Canvas
            draw={draw}
            redraw={(paint) => model.hover.watch(paint)}
            height={rows.height * unit}
            cursor="pointer"
            class="sectors"
            label={`${sectors.size} sectors in ${rows.list.length} lines transferred for ${byteLanes.size} bytes`}
            onMove={(x, y) => {
                const under = lanesAt(x, y);
                if (!under) return leave();
                const lane = under.lanes[0] ?? null,
                    moved = sectors.has(Math.floor(under.byte / SECTOR_BYTES));
                model.hover.set({
                    from: "sectors",
                    record: lane === null ? null : one,
                    lane,
                    bytes: { space: one.space, first: under.byte, last: under.byte },
                    touches: null,
                    touchCount: 0,
                    text:
                        lane === null
                            ? `${addressText(launch, one.space, under.byte)} (${hex(under.byte)}): ` +
                              `${moved ? "transferred, but not used by this request" : "not transferred"}`
                            : `${laneText(model, one, lane)}` +
                              `${under.lanes.length > 1 ? `, and ${under.lanes.length - 1} more lanes` : ""}`,
                });
            }}
            onLeave={leave}
            onClick={(x, y) => {
                const lane = lanesAt(x, y)?.lanes[0];
                if (lane !== undefined)
                    model.set({
                        record: one.index,
                        lane: state.record === one.index && state.lane === lane ? null : lane,
                    });
            }}
        />
    );
}
