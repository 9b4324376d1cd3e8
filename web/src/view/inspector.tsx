// What is selected, in full: the request and what it costs, its lanes with addresses and values, the
// findings at its line; the lanes that touched the selected bytes; and the pins, compared.
import { count, counted } from "../format";
import { useAsk } from "./ask";
import { ByteHistory } from "./byte-history";
import { Canvas, type Brush } from "./canvas";
import { onlyThisWarp, togglePin } from "./keys";
import { kindColour, kindOf, operationText, useModel, widthOf } from "./model";
import { Failed, plural } from "./parts";
import { addressText, coordinates, liveLanes, ownerOf, placeText, pointText } from "./places";
import { inkOn } from "./paint";
import { PinPanel } from "./pins";
import { valueOf, type One } from "./records";
import { bankCost, isActive, lanesOf, layoutText, sectorCost } from "./requests";
import { NO_FILTER, hex, isPinned, pinToggled } from "./state";
import { valueText } from "./values";

const TOUCHES = 64;

function Lanes({ one }: { one: One }) {
    const model = useModel(),
        { state, launch } = model,
        colour = kindOf(model, one.site);
    const live = liveLanes(launch, one.warp);
    const geometry = (width: number) => ({ wide: width / 16, tall: width / 16 });
    const draw = ({ context, width, unit, theme, mono }: Brush) => {
        const { wide } = geometry(width),
            tall = 17 * unit;
        context.font = mono;
        context.textAlign = "center";
        for (let lane = 0; lane < 32; lane++) {
            const x = (lane % 16) * wide,
                y = Math.floor(lane / 16) * tall,
                active = isActive(one.mask, lane);
            context.fillStyle = active ? kindColour(theme, colour) : theme.background;
            context.globalAlpha = lane < live ? 1 : 0.3;
            context.fillRect(x, y, wide - unit, tall - unit);
            context.globalAlpha = 1;
            context.fillStyle = active ? inkOn(kindColour(theme, colour)) : theme.text;
            context.fillText(String(lane), x + wide / 2 - unit / 2, y + tall / 2);
            if (state.lane === lane) {
                context.strokeStyle = theme.emphasis;
                context.lineWidth = 2 * unit;
                context.strokeRect(x + unit / 2, y + unit / 2, wide - 2 * unit, tall - 2 * unit);
            }
        }
    };
    const laneAt = (x: number, y: number, event: MouseEvent) => {
        const width =
            (event.currentTarget as HTMLCanvasElement | null)?.clientWidth ??
            (event.target as HTMLCanvasElement).clientWidth;
        return (
            Math.min(15, Math.floor(x / (width / 16))) +
            (y > (event.target as HTMLCanvasElement).clientHeight / 2 ? 16 : 0)
        );
    };
    return (
        <Canvas
            class="lanes32"
            label={`Active lanes of record ${one.index}: ${lanesOf(one.mask).length} of ${live}`}
            draw={draw}
            cursor="pointer"
            onClick={(x, y, event) => {
                const lane = laneAt(x, y, event);
                model.set({ lane: state.lane === lane ? null : lane });
            }}
        />
    );
}

function Cost({ one }: { one: One }) {
    const model = useModel(),
        width = widthOf(model, one.site);
    if (one.space === "shared") {
        const cost = bankCost(
            one.addresses,
            one.mask,
            width,
            model.launch.bankBytes,
            model.sites.get(one.site)?.operation === "load",
        );
        return (
            <p class={`cost ${cost.wavefronts > cost.ideal ? "poor" : "good"}`}>
                <b>{cost.ways > 1 ? `${cost.ways}-way bank conflict` : "no bank conflict"}</b>
                <span>
                    {cost.wavefronts} {plural(cost.wavefronts, "wavefront")}, ideal: {cost.ideal}
                </span>
            </p>
        );
    }
    const cost = sectorCost(one.addresses, one.mask, width, one.space),
        used = cost.distinctBytes / (32 * cost.sectors);
    return (
        <p class={`cost ${cost.sectors > cost.ideal ? (used < 0.4 ? "poor" : "fair") : "good"}`}>
            <b>
                {cost.sectors} {plural(cost.sectors, "sector")}, ideal: {cost.ideal}
            </b>
            <span>
                {cost.distinctBytes} of {32 * cost.sectors} B used, {cost.lines} {plural(cost.lines, "line")} of 128 B
            </span>
        </p>
    );
}

function LaneTable({ one }: { one: One }) {
    const model = useModel(),
        { launch, state } = model,
        site = model.sites.get(one.site);
    return (
        <div class="scroll lanetable">
            <table>
                <thead>
                    <tr>
                        <th>lane</th>
                        <th>thread</th>
                        <th class="text">touches</th>
                        {one.values && <th>value</th>}
                    </tr>
                </thead>
                <tbody>
                    {lanesOf(one.mask).map((lane) => {
                        const value = valueOf(one, lane, site?.width ?? 1),
                            where = addressText(launch, one.space, one.addresses[lane]);
                        const brief =
                            ownerOf(launch, one.space, one.addresses[lane]) || one.space === "global"
                                ? where
                                : `+${one.addresses[lane]}`;
                        const set = () => model.set({ lane: state.lane === lane ? null : lane });
                        return (
                            <tr class={state.lane === lane ? "on" : ""} onClick={set}>
                                <td>
                                    <button
                                        class="link"
                                        onClick={(event) => {
                                            event.stopPropagation();
                                            set();
                                        }}
                                    >
                                        {lane}
                                    </button>
                                </td>
                                <td>
                                    {coordinates(32 * one.warp + lane, launch.block)
                                        .slice(0, launch.block[2] > 1 ? 3 : launch.block[1] > 1 ? 2 : 1)
                                        .join(", ")}
                                </td>
                                <td class="text" title={`${where}, ${hex(one.addresses[lane])}`}>
                                    <code>{brief}</code>
                                </td>
                                {one.values && (
                                    <td title={value ? valueText(value, null) : ""}>
                                        {value ? valueText(value, site?.type ?? null) : "–"}
                                    </td>
                                )}
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

function Selected({ one }: { one: One }) {
    const model = useModel(),
        { launch, state } = model,
        site = model.sites.get(one.site);
    // Those of the site, or of what is one with it: copies of the line do
    // the same to the same variable. The first weighs most.
    const about = (model.findings ?? []).filter(
        (f) =>
            site &&
            (f.site === site.site ||
                (f.source !== null &&
                    f.source === site.source &&
                    f.line === site.line &&
                    f.operation === site.operation &&
                    f.variable === site.variable)),
    );
    const findings = about.filter((f, i) => about.findIndex((g) => g.finding === f.finding) === i);
    const pinned = isPinned(state.pins, { index: one.index, lane: state.lane });
    return (
        <section class="panel selected">
            <div class="headline">
                <h2>Request {count(one.index)}</h2>
                <button
                    class="icon"
                    aria-label="Clear the selection"
                    onClick={() => model.set({ record: null, lane: null })}
                >
                    ×
                </button>
            </div>
            <dl class="facts">
                <dt>
                    <i class={`dot ${kindOf(model, one.site)}`} />
                    {operationText(model, one)}
                </dt>
                <dd>
                    {one.space}
                    {site?.variable && (
                        <>
                            , <code>{site.variable}</code>
                        </>
                    )}
                    {site?.type && (
                        <>
                            {" "}
                            <span class="soft">{site.type}</span>
                        </>
                    )}
                </dd>
                <dt>CTA {pointText(one.cta, launch.grid)}</dt>
                <dd>
                    warp {one.warp} of {launch.warpsPerCta}
                </dd>
                <dt>at</dt>
                <dd>
                    {site?.source !== null && site?.line ? (
                        <button
                            class="link"
                            onClick={() => model.set({ view: "source", source: site.source, line: site.line })}
                        >
                            {placeText(model.run, site)}
                        </button>
                    ) : (
                        placeText(model.run, site)
                    )}
                </dd>
                <dt>lanes</dt>
                <dd>{layoutText(one.addresses, one.mask, site?.width ?? 1, one.space)}</dd>
            </dl>
            <Cost one={one} />
            <Lanes one={one} />
            <div class="actions">
                <button onClick={() => onlyThisWarp(model)} title="w">
                    All accesses of this warp
                </button>
                <button onClick={() => model.set({ filter: { ...NO_FILTER, sites: [one.site] } })}>This site</button>
                <button onClick={() => model.set({ filter: { ...NO_FILTER, ctas: [[one.cta, one.cta]] } })}>
                    This CTA
                </button>
                <button onClick={() => togglePin(model)} title="p">
                    {pinned ? "Unpin" : state.lane === null ? "Pin" : `Pin lane ${state.lane}`}
                </button>
                <button onClick={() => model.set(one.space === "shared" ? { view: "banks" } : { view: "sectors" })}>
                    {one.space === "shared" ? "Banks" : "Sectors"}
                </button>
            </div>
            {findings.map((f) => (
                <div class="note">
                    <b>{f.finding}</b>
                    <p>{f.evidence}</p>
                    <p class="soft">{f.remedy}</p>
                </div>
            ))}
            <LaneTable one={one} />
        </section>
    );
}

function Touching() {
    const model = useModel(),
        { launch, state } = model,
        range = state.bytes!;
    const touches = useAsk(
        launch.launch,
        `touching|${range.space}|${range.first}|${range.last}|${JSON.stringify(state.filter)}`,
        (signal) =>
            model.source.touching(launch.launch, state.filter, range.space, range.first, range.last, TOUCHES, signal),
    );
    const bytesSelected = range.last - range.first + 1;
    return (
        <section class="panel touching">
            <div class="headline">
                <h2>Bytes</h2>
                <button class="icon" aria-label="Clear the selected bytes" onClick={() => model.set({ bytes: null })}>
                    ×
                </button>
            </div>
            <p>
                <code>{addressText(launch, range.space, range.first)}</code>
                <span class="soft">
                    {" "}
                    · {count(bytesSelected)} B from {hex(range.first)}
                </span>
            </p>
            <div class="actions">
                <button onClick={() => model.set({ filter: { ...state.filter, range } })}>Filter by these bytes</button>
                <button onClick={() => model.set({ pins: pinToggled(state.pins, { bytes: range }) })}>
                    {isPinned(state.pins, { bytes: range }) ? "Unpin" : "Pin these bytes"}
                </button>
            </div>
            <ByteHistory range={range} />
            {touches.error && <Failed answer={touches} />}
            {touches.data && (
                <p class="soft">
                    {touches.data.total
                        ? `${counted(touches.data.total, "lane", "lanes")} touched them`
                        : "No lane in this filter touched them."}
                </p>
            )}
            <ul class="touches">
                {touches.data?.rows.map((touch) => (
                    <li>
                        <button
                            class={touch.index === state.record && touch.lane === state.lane ? "on" : ""}
                            onClick={() => model.set({ record: touch.index, lane: touch.lane })}
                        >
                            <i class={`dot ${kindOf(model, touch.site)}`} />
                            CTA {pointText(touch.cta, launch.grid)}, warp {touch.warp}, lane {touch.lane}
                            <span class="soft">{placeText(model.run, model.sites.get(touch.site))}</span>
                        </button>
                    </li>
                ))}
            </ul>
            {touches.data && touches.data.total > touches.data.rows.length && (
                <p class="soft">{count(touches.data.total - touches.data.rows.length)} more</p>
            )}
        </section>
    );
}

export function Inspector() {
    const model = useModel(),
        { state, selected } = model;
    return (
        <>
            {state.pins.length > 0 && <PinPanel />}
            {state.bytes && <Touching />}
            {selected && <Selected key={selected.index} one={selected} />}
            {!selected && state.record !== null && (
                <section class="panel">
                    <p class="soft working">Loading record {state.record}</p>
                </section>
            )}
            {!selected && !state.bytes && state.record === null && (
                <section class="panel blank">
                    <h2>Nothing selected</h2>
                    <p>
                        Click a lane in <b>Warps</b> or bytes in <b>Addresses</b>, or step with <kbd>↓</kbd>.
                    </p>
                    <p>
                        This panel then shows the cost of the request and its addresses
                        {model.run.hasValues ? " and values" : ""}.
                    </p>
                    {!model.run.hasValues && (
                        <p class="soft">
                            Values were not recorded: use <code>ctascope record --values</code>. For the CPU device,
                            also compile with <code>ctascope cc --values</code>.
                        </p>
                    )}
                </section>
            )}
        </>
    );
}
