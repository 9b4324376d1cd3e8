// Banks of a shared-memory request, alone or beside another: of another site, launch or run, as
// before and after a padding.
import { useMemo, useState } from "preact/hooks";
import { counted, shortName } from "../format";
import { messageOf, useAsk } from "./ask";
import { BankPicture } from "./bank-picture";
import { Executions } from "./executions";
import { laneText, lettersOn, useModel, type Model } from "./model";
import { Choice, Empty, Failed, Head, NothingLeft, plural, Unrecorded } from "./parts";
import { kernelName, placeText, pointText, siteIndex } from "./places";
import { fetchOne, recordAt, type One } from "./records";
import { bankCost } from "./requests";
import type { Group, LaunchInfo, LaunchRow, RunInfo, Site, Source, Space } from "./source";
import { NO_FILTER, type Compare } from "./state";

// The selected request if it is of such a space, else the first that the filter lets through.
export function useRequest(
    model: Model,
    spaces: Space[],
): { one: One | null; chosen: boolean; waiting: boolean; error: string | null; retry: () => void } {
    const { launch, state, selected } = model,
        fits = !!selected && spaces.includes(selected.space);
    const allowed = spaces.filter(
        (space) =>
            launch.spaces.some((s) => s.space === space) && (!state.filter.space || state.filter.space === space),
    );
    const ask = !fits && allowed.length > 0;
    const first = useAsk(launch.launch, ask ? `first|${allowed[0]}|${JSON.stringify(state.filter)}` : null, (signal) =>
        model.source.records(launch.launch, { ...state.filter, space: allowed[0] }, 0, 1, signal),
    );
    const one = useMemo(() => (first.data && first.data.index.length ? recordAt(first.data, 0) : null), [first.data]);
    return {
        one: fits ? selected : one,
        chosen: fits,
        waiting: ask && !first.data && first.waiting,
        error: first.error,
        retry: first.retry,
    };
}

// The request with the worst conflict among the first ones of the site that loses most to conflicts.
function useConflict(model: Model, wanted: boolean): { one: One | null; waiting: boolean } {
    const { launch, state, source } = model,
        filter = { ...state.filter, space: "shared" as const };
    const answer = useAsk(launch.launch, wanted ? `conflict|${JSON.stringify(filter)}` : null, async (signal) => {
        const groups = await source.groups(launch.launch, filter, "site", SITES, signal);
        const lost = (g: Group) => g.wavefronts - g.idealWavefronts;
        const worst = groups.rows.reduce<Group | null>((a, b) => (lost(b) > (a ? lost(a) : 0) ? b : a), null);
        if (!worst || (state.filter.space && state.filter.space !== "shared")) return null;
        const records = await source.records(
            launch.launch,
            { ...filter, sites: [Number(worst.key)] },
            0,
            LOOKED_THROUGH,
            signal,
        );
        let best = 0;
        const lostBy = (i: number) => records.wavefronts[i] - records.idealWavefronts[i];
        for (let i = 1; i < records.index.length; i++) if (lostBy(i) > lostBy(best)) best = i;
        return records.index.length && lostBy(best) > 0 ? recordAt(records, best) : null;
    });
    return { one: answer.data, waiting: wanted && !answer.data && answer.waiting };
}
const SITES = 1000,
    LOOKED_THROUGH = 1000;

interface Side {
    run: RunInfo;
    sites: Map<number, Site>;
    launch: LaunchInfo;
    one: One;
}

export function BanksView() {
    const model = useModel(),
        { state, launch, run } = model;
    const request = useRequest(model, ["shared"]),
        isShared = launch.spaces.some((s) => s.space === "shared");
    const conflict = useConflict(model, isShared && !request.chosen);
    const one = request.chosen ? request.one : (conflict.one ?? (conflict.waiting ? null : request.one));
    const other = useAsk("compare", state.compare ? JSON.stringify(state.compare) : null, (signal) =>
        sideOf(model, state.compare!, signal),
    );
    const [picking, setPicking] = useState(false);
    if (!launch.spaces.length) return <Unrecorded />;
    if (!isShared)
        return (
            <Empty title="This launch has no recorded shared-memory requests.">
                Its global requests are in{" "}
                <button class="link" onClick={() => model.set({ view: "sectors" })}>
                    Sectors
                </button>
                .
            </Empty>
        );
    if (request.error) return <Failed answer={request} />;
    if (!one)
        return request.waiting || conflict.waiting ? (
            <p class="soft working pad">Loading a request</p>
        ) : (
            <NothingLeft what="shared-memory requests" />
        );
    const side: Side = { run, sites: model.sites, launch, one };
    return (
        <>
            <Head
                tools={
                    <>
                        <Choice
                            label="Picture"
                            value={state.stacked ? "stacks" : "lanes"}
                            options={[
                                ["lanes", "lane × bank"],
                                ["stacks", "by bank"],
                            ]}
                            onChoose={(kind) => model.set({ stacked: kind === "stacks" })}
                        />
                        {state.compare ? (
                            <button onClick={() => model.set({ compare: null })}>Stop comparing</button>
                        ) : (
                            <button aria-expanded={picking} onClick={() => setPicking(!picking)}>
                                Compare with…
                            </button>
                        )}
                    </>
                }
            >
                <b>{launch.bankBytes}-byte banks</b>{" "}
                <span class="soft">
                    {request.chosen
                        ? "the selected request"
                        : conflict.one
                          ? "a request with the worst conflict; select another in Warps"
                          : "the first shared request; select another in Warps"}
                </span>
            </Head>
            <div class="overlaid">
                {picking && !state.compare && <Picker one={one} done={() => setPicking(false)} />}
            </div>
            <Executions one={one} />
            <div class="sides scrolled">
                <BankSide side={side} own />
                {state.compare &&
                    (other.error ? (
                        <Failed answer={other} />
                    ) : other.data ? (
                        <BankSide side={other.data} />
                    ) : (
                        <p class="soft working pad">Loading the other request</p>
                    ))}
            </div>
        </>
    );
}

async function sideOf(model: Model, compare: Compare, signal: AbortSignal): Promise<Side> {
    const source = compare.other ? model.source.other() : model.source;
    if (!source) throw new Error("This page has no other run to compare with.");
    const run = compare.other ? await source.run() : model.run;
    const launch =
        compare.other || compare.launch !== model.launch.launch
            ? await source.launch(compare.launch, signal)
            : model.launch;
    const one = await fetchOne(source, compare.launch, compare.index, signal);
    if (!one) throw new Error(`Request ${compare.index} of launch ${compare.launch} does not exist.`);
    return { run, sites: siteIndex(run), launch, one };
}

function BankSide({ side: { run, sites, launch, one }, own }: { side: Side; own?: boolean }) {
    const model = useModel(),
        site = sites.get(one.site),
        cost = bankCost(one.addresses, one.mask, site?.width ?? 4, launch.bankBytes, site?.operation === "load");
    const point = (lane: number | null, sticky: boolean) => {
        if (!own) return;
        if (sticky)
            return (
                lane !== null &&
                model.set({
                    record: one.index,
                    lane: model.state.record === one.index && model.state.lane === lane ? null : lane,
                })
            );
        if (lane === null) return model.hover.get()?.from === "banks" ? model.hover.set(null) : undefined;
        model.hover.set({
            from: "banks",
            record: one,
            lane,
            bytes: null,
            touches: null,
            touchCount: 0,
            text: laneText(model, one, lane),
        });
    };
    return (
        <div class="side">
            <p class={`verdict ${cost.ways > 1 ? "poor" : "good"}`}>
                <b>{cost.ways > 1 ? `${cost.ways}-way conflict` : "no conflict"}</b>{" "}
                <span>
                    {cost.wavefronts} {plural(cost.wavefronts, "wavefront")}, ideal: {cost.ideal}
                </span>
            </p>
            <p class="soft">
                {site?.operation} {site?.width} B
                {site?.variable && (
                    <>
                        {" "}
                        of <code>{site.variable}</code>
                    </>
                )}
                , {placeText(run, site)}
                <br />
                {run.path === model.run.path ? "" : `${run.path}: `}#{launch.launch} {shortName(launch.name)}, CTA{" "}
                {pointText(one.cta, launch.grid)}, warp {one.warp}
                {cost.phases.length > 1 && `, ${cost.phases.length} phases of ${cost.phases[0].lanes} lanes`}
            </p>
            <BankPicture
                one={one}
                site={site}
                bankBytes={launch.bankBytes}
                stacked={model.state.stacked}
                lane={own && model.state.record === one.index ? model.state.lane : null}
                hover={model.hover}
                letters={own ? lettersOn(model, one) : new Map()}
                onLane={point}
            />
        </div>
    );
}

const LISTED = 200; // launches to choose from; of more, those that the search finds

// Which other request: of which run, launch and site; of the same CTA and warp where there is one.
function Picker({ one, done }: { one: One; done: () => void }) {
    const model = useModel();
    const [other, setOther] = useState(!!model.run.otherRun),
        [launch, setLaunch] = useState<number | null>(null);
    const source: Source = (other && model.source.other()) || model.source;
    const run = useAsk(other ? "other" : "this", "run", () => (other ? source.run() : Promise.resolve(model.run)));
    const [text, setText] = useState("");
    const launches = useAsk(other ? "other" : "this", `launches|${text}`, (signal) =>
        source.launches(text.trim(), 0, LISTED, signal),
    );
    const rows: LaunchRow[] = (launches.data?.rows ?? []).filter((row) => row.recorded !== "none");
    const at =
        launch ??
        (rows.some((row) => row.launch === model.launch.launch) ? model.launch.launch : (rows[0]?.launch ?? null));
    const info = useAsk(other ? "other" : "this", at === null ? null : `launch|${at}`, (signal) =>
        source.launch(at, signal),
    );
    const sites = run.data ? siteIndex(run.data) : null;
    const shared = (info.data?.sites ?? []).filter(
        (s) => sites?.get(s.site)?.space === "shared" || sites?.get(s.site)?.space === "generic",
    );
    const take = async (site: number) => {
        try {
            const same = { ...NO_FILTER, sites: [site], space: "shared" as const };
            let found = await source.records(
                at,
                { ...same, ctas: [[one.cta, one.cta]], warps: [[one.warp, one.warp]] },
                0,
                1,
            );
            if (!found.index.length) found = await source.records(at, same, 0, 1);
            if (!found.index.length) return model.say("That site has no shared-memory requests.");
            model.set({ compare: { other, launch: at, index: found.index[0] } });
            done();
        } catch (error) {
            model.say(messageOf(error));
        }
    };
    return (
        <div class="picking">
            {model.run.otherRun && (
                <Choice
                    label="Run to compare with"
                    value={other ? "other" : "this"}
                    options={[
                        ["this", "this run"],
                        ["other", "the other run"],
                    ]}
                    onChoose={(value) => {
                        setOther(value === "other");
                        setLaunch(null);
                    }}
                />
            )}
            {(text || (launches.data?.total ?? 0) > LISTED) && (
                <input
                    type="search"
                    placeholder="Kernel or launch number"
                    aria-label="Search launches to compare with"
                    value={text}
                    onInput={(event) => {
                        setText(event.currentTarget.value);
                        setLaunch(null);
                    }}
                />
            )}
            <select
                aria-label="Launch to compare with"
                value={String(at ?? "")}
                onChange={(event) => setLaunch(Number(event.currentTarget.value))}
            >
                {rows.map((row) => (
                    <option value={String(row.launch)}>
                        #{row.launch} {shortName(run.data ? kernelName(run.data, row.kernel) : "")}
                    </option>
                ))}
            </select>
            <div class="actions">
                {shared.map(({ site, records }) => (
                    <button onClick={() => void take(site)}>
                        {placeText(run.data!, sites!.get(site))} {sites!.get(site)?.operation}{" "}
                        <span class="soft">{counted(records, "request", "requests")}</span>
                    </button>
                ))}
                {info.data && !shared.length && <span class="soft">That launch has no shared-memory requests.</span>}
            </div>
        </div>
    );
}
