// What is wrong, the costliest first: where, the evidence, a remedy, and the ceiling of the gain. The page opens on
// those of the whole run, of time and memory together; a click goes to an instance of one.
import { useState } from "preact/hooks";
import { FlowFindings } from "../flow";
import type { FlowData, FlowFinding } from "../flow-data";
import { percent, shortName } from "../format";
import { RunFindingList, type RunFinding, type RunFindings } from "../run-findings";
import { messageOf, useAsk } from "./ask";
import { FindingPicture } from "./finding-picture";
import { useModel, type Model } from "./model";
import { Choice, Empty, Failed, Head, plural, Unrecorded } from "./parts";
import { worstRequest } from "./records";
import type { Filter, FindingRow } from "./source";
import { NO_FILTER, VIEW_TITLES, type State, type ViewName } from "./state";

// What leads to an instance of a finding.
export type Leading = Pick<FindingRow, "finding" | "kernel" | "launch"> &
    Partial<Pick<FindingRow, "site" | "source" | "line" | "example">>;

// The view that shows best what a finding says.
function viewOf(finding: Leading, shared: boolean): ViewName {
    if (/lanes|atomic/.test(finding.finding)) return "warps";
    if (/race|several/.test(finding.finding)) return "conflicts";
    return shared ? "banks" : "sectors";
}

const isShared = (model: Model, finding: Leading) =>
    typeof finding.site === "number" && model.sites.get(finding.site)?.space === "shared";

// All that show something of it, the best one first.
function viewsOf(model: Model, finding: Leading): ViewName[] {
    const shared = isShared(model, finding);
    return [
        ...new Set<ViewName>([
            viewOf(finding, shared),
            shared ? "banks" : "sectors",
            "warps",
            "addresses",
            "conflicts",
            "order",
        ]),
    ];
}

// A launch that has it: said, or the first of the kernel, or the one that is open.
async function launchOf(model: Model, finding: Leading): Promise<number> {
    const told = finding.example?.launch ?? finding.launch;
    if (told !== null || !finding.kernel) return told ?? model.launch.launch;
    if (model.launch.name === finding.kernel) return model.launch.launch;
    const { rows } = await model.source.launches(finding.kernel, 0, 100);
    const name = (kernel: number) => model.run.kernels.find((k) => k.kernel === kernel)?.name;
    return (
        rows.find((row) => row.recorded !== "none" && name(row.kernel) === finding.kernel)?.launch ??
        model.launch.launch
    );
}

function filterOf({ finding, site = null, source = null, line = null }: Leading): Filter {
    return {
        ...NO_FILTER,
        partial: /active lanes/.test(finding),
        ...(site !== null ? { sites: [site] } : source !== null && line !== null ? { lines: [{ source, line }] } : {}),
    };
}

// The request and lane that the finding names, else the worst one.
async function requestOf(
    model: Model,
    finding: Leading,
    launch: number,
    filter: Filter,
): Promise<{ record: number | null; lane: number | null }> {
    const { source } = model,
        { example } = finding;
    if (example) {
        const only: Filter = { ...filter, ctas: [[example.cta, example.cta]], warps: [[example.warp, example.warp]] };
        const { rows } = await source.touching(
            launch,
            only,
            isShared(model, finding) ? "shared" : "global",
            example.address,
            example.address,
            1,
        );
        const index = rows[0]?.index ?? (await source.records(launch, only, 0, 1)).index[0];
        if (index !== undefined) return { record: index, lane: rows[0]?.lane ?? null };
    }
    return { record: (await worstRequest(source, launch, filter))?.index ?? null, lane: null };
}

// To an instance of the finding, in the view that shows it best or in another: its launch, the filter on its site,
// its request.
export async function goToExample(model: Model, finding: Leading, wanted?: ViewName): Promise<void> {
    const launch = await launchOf(model, finding),
        filter = filterOf(finding),
        view = wanted ?? viewOf(finding, isShared(model, finding));
    const change: Partial<State> = {
        ...(await requestOf(model, finding, launch, filter)),
        source: finding.source ?? null,
        line: finding.line ?? null,
        filter,
        view,
        second: view === "warps" ? "addresses" : "warps",
    };
    if (launch !== model.launch.launch) model.openLaunch(launch, change);
    else model.set(change);
}

// A place in the source as a link to it.
function Place({ of }: { of: { source?: number | null; line?: number | null; place: string | null } }) {
    const model = useModel(),
        { source = null, line = null, place } = of;
    if (source === null || line === null) return <>{place}</>;
    return (
        <button class="link" onClick={() => model.set({ view: "source", source, line })}>
            {place ?? `line ${line}`}
        </button>
    );
}

// A button that goes to an instance, and says so while it is on its way.
function Go({ finding, view, children }: { finding: Leading; view?: ViewName; children: string }) {
    const model = useModel(),
        [going, setGoing] = useState(false);
    const go = () => {
        setGoing(true);
        goToExample(model, finding, view)
            .catch((error) => model.say(messageOf(error)))
            .finally(() => setGoing(false));
    };
    return (
        <button
            class={`${view ? "link" : "primary"} ${going ? "working" : ""}`}
            onClick={go}
            title={view ? `Show it in ${VIEW_TITLES[view]}` : "Go to one occurrence"}
        >
            {children}
        </button>
    );
}

// ---- of a launch ----

function LaunchFinding({ f }: { f: FindingRow }) {
    return (
        <article class={`finding ${f.share === null ? "wrong" : ""}`}>
            <div
                class="ceiling"
                title={
                    f.share === null
                        ? "Affects correctness, not speed"
                        : `Could save up to this share of the kernel's ${f.system}`
                }
            >
                {f.share === null ? (
                    <b>!</b>
                ) : (
                    <>
                        <b>{percent(f.share)}</b>
                        <i style={{ width: `${Math.max(3, 100 * Math.min(1, f.share))}%` }} />
                        <small>possible saving in {f.system}</small>
                    </>
                )}
            </div>
            <div class="says">
                <h3>
                    {f.finding}{" "}
                    <span class="soft">
                        {f.operation}
                        {f.variable && (
                            <>
                                {" "}
                                of <code>{f.variable}</code>
                            </>
                        )}
                    </span>
                </h3>
                <p>
                    <Place of={f} />
                    {f.kernel && (
                        <span class="soft">
                            {" "}
                            in <code title={f.kernel}>{shortName(f.kernel)}</code>
                        </span>
                    )}
                </p>
                <p class="evidence">{f.evidence}</p>
                <p class="remedy">{f.remedy}</p>
            </div>
            <Go finding={f}>Show an example</Go>
        </article>
    );
}

const says = (text: string, parts: (string | null | undefined)[]) =>
    !text || parts.some((part) => part?.toLowerCase().includes(text));

function LaunchFindings({ text, onClear }: { text: string; onClear: () => void }) {
    const model = useModel();
    const answer = useAsk(model.launch.launch, "findings-view", (signal) =>
        model.source.findings(model.launch.launch, signal),
    );
    if (answer.error) return <Failed answer={answer} />;
    if (!answer.data) return <p class="soft working">Analysing the accesses</p>;
    const rows = answer.data.filter((f) =>
        says(text, [f.finding, f.place, f.variable, f.kernel, f.operation, f.evidence]),
    );
    if (!answer.data.length && !model.launch.spaces.length) return <Unrecorded />;
    if (!answer.data.length)
        return (
            <Empty title="No problems found in the accesses of this launch.">
                {model.source.runFindings && (
                    <button onClick={() => model.set({ wholeRun: true })}>Show the whole run</button>
                )}
            </Empty>
        );
    if (!rows.length) return <NoMatch text={text} onClear={onClear} />;
    return (
        <>
            <p class="about-findings soft">
                <b>{rows.length}</b> {plural(rows.length, "finding")}, ranked by possible savings
            </p>
            {rows.map((f) => (
                <LaunchFinding f={f} />
            ))}
        </>
    );
}

function NoMatch({ text, onClear }: { text: string; onClear: () => void }) {
    return (
        <Empty title={`No finding matches '${text}'.`}>
            <button onClick={onClear}>Show all</button>
        </Empty>
    );
}

// ---- of the run ----

function Actions({ row }: { row: RunFinding }) {
    const model = useModel();
    if (row.about === "time")
        return (
            <p class="links">
                {model.run.hasTime && row.from !== undefined && row.to !== undefined && (
                    <a href={`time#t=${row.from}-${Math.max(row.from + 1, row.to)}`} target="_blank">
                        Show in the timeline ↗
                    </a>
                )}
                {row.launch !== null && (
                    <button class="link" onClick={() => model.openLaunch(row.launch!, { view: "warps" })}>
                        Its first launch
                    </button>
                )}
            </p>
        );
    if (row.launch === null) return null;
    const [best, ...others] = viewsOf(model, row);
    return (
        <p class="links">
            <Go finding={row}>Show an example</Go>
            {[best, ...others].map((view) => (
                <Go finding={row} view={view}>
                    {VIEW_TITLES[view]}
                </Go>
            ))}
        </p>
    );
}

function matching(data: RunFindings, text: string): RunFindings {
    const rows = data.rows.filter((f) =>
        says(text, [f.finding, f.place, f.variable, f.kernel, f.activity, f.operation, f.evidence]),
    );
    return text ? { ...data, rows, left: 0, notes: [], missing: [] } : data;
}

function matchingFlow(data: FlowData, text: string): FlowData {
    const matches = data.findings.map((f) => says(text, [f.finding, f.variable, f.name, f.other_name, f.allocated_at]));
    return {
        ...data,
        findings: data.findings.filter((_, i) => matches[i]),
        finding_places: data.finding_places.filter((_, i) => matches[i]),
    };
}

function WholeRun({ text, onClear }: { text: string; onClear: () => void }) {
    const model = useModel();
    const answer = useAsk("run", "run-findings", (signal) => model.source.runFindings!(signal));
    const asksFlow = model.source.flow !== undefined && model.run.hasCommunication,
        flow = useAsk("run", asksFlow ? "flow" : null, (signal) => model.source.flow!(signal));
    if (answer.error) return <Failed answer={answer} />;
    if (!answer.data) return <p class="soft working">Analysing the accesses of the run</p>;
    const data = matching(answer.data, text),
        between = flow.data && matchingFlow(flow.data, text),
        open = (f: FlowFinding | null) => model.set({ view: "flow", finding: f && flow.data!.findings.indexOf(f) });
    if (text && !data.rows.length && !between?.findings.length) return <NoMatch text={text} onClear={onClear} />;
    return (
        <>
            <p class="about-findings soft">What to do first, by the share of {data.basis} that it could save at most</p>
            {between && <FlowFindings data={between} races={true} onOpen={open} />}
            <RunFindingList
                data={data}
                place={(row) => (row.place || row.line ? <Place of={row} /> : null)}
                picture={(row) => <FindingPicture of={row} />}
                actions={(row) => <Actions row={row} />}
                between={between && <FlowFindings data={between} races={false} onOpen={open} />}
            />
            {flow.error && <Failed answer={flow} />}
            {asksFlow && !flow.data && !flow.error && (
                <p class="soft working">Looking at what passes between launches, copies and the host</p>
            )}
        </>
    );
}

export function FindingsView() {
    const model = useModel(),
        hasRun = model.source.runFindings !== undefined,
        isRun = hasRun && model.state.wholeRun;
    const [text, setText] = useState("");
    const wanted = text.trim().toLowerCase(),
        clear = () => setText("");
    return (
        <>
            <Head
                tools={
                    <>
                        {hasRun && (
                            <Choice
                                label="Findings of"
                                value={isRun ? "run" : "launch"}
                                options={[
                                    ["run", "whole run"],
                                    ["launch", "this launch"],
                                ]}
                                onChoose={(value) => model.set({ wholeRun: value === "run" })}
                            />
                        )}
                        <input
                            type="search"
                            placeholder="Find"
                            aria-label="Find a finding"
                            value={text}
                            onInput={(event) => setText(event.currentTarget.value)}
                        />
                    </>
                }
            >
                Findings of {isRun ? "the whole run" : "this launch"}
            </Head>
            <div class="findings scrolled">
                {isRun ? <WholeRun text={wanted} onClear={clear} /> : <LaunchFindings text={wanted} onClear={clear} />}
            </div>
        </>
    );
}
