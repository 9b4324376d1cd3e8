// What is wrong, the costliest first: where, the evidence, a remedy, and the ceiling of the gain. A
// click goes to an instance of it.
import { useState } from "preact/hooks";
import { percent, shortName } from "../format";
import { messageOf, useAsk } from "./ask";
import { useModel, type Model } from "./model";
import { Choice, Empty, Failed, Head, plural, Unrecorded } from "./parts";
import type { Filter, FindingRow } from "./source";
import { NO_FILTER, type State, type ViewName } from "./state";

// The view that shows best what a finding says.
function viewOf(finding: FindingRow, shared: boolean): ViewName {
    if (/lanes|atomic/.test(finding.finding)) return "warps";
    if (/race|several/.test(finding.finding)) return "conflicts";
    return shared ? "banks" : "sectors";
}

// A launch that has it: said, or the first of the kernel, or the one that is open.
async function launchOf(model: Model, finding: FindingRow): Promise<number> {
    const told = finding.example?.launch ?? finding.launch;
    if (told !== null || !finding.kernel) return told ?? model.launch.launch;
    if (model.launch.name === finding.kernel) return model.launch.launch;
    const { rows } = await model.source.launches(shortName(finding.kernel), 0, 100);
    const name = (kernel: number) => model.run.kernels.find((k) => k.kernel === kernel)?.name;
    return (
        rows.find((row) => row.recorded !== "none" && name(row.kernel) === finding.kernel)?.launch ??
        model.launch.launch
    );
}

// To an instance of the finding: its launch, the filter on its site, the request that it names, else
// the first one.
export async function goToExample(model: Model, finding: FindingRow): Promise<void> {
    const { source } = model,
        { example } = finding,
        launch = await launchOf(model, finding);
    const site = finding.site === null ? undefined : model.sites.get(finding.site),
        shared = site?.space === "shared";
    const filter: Filter = {
        ...NO_FILTER,
        partial: /active lanes/.test(finding.finding),
        ...(finding.site !== null
            ? { sites: [finding.site] }
            : finding.source !== null && finding.line !== null
              ? { lines: [{ source: finding.source, line: finding.line }] }
              : {}),
    };
    let index: number | null = null,
        lane: number | null = null;
    if (example) {
        const only: Filter = { ...filter, ctas: [[example.cta, example.cta]], warps: [[example.warp, example.warp]] };
        const { rows } = await source.touching(
            launch,
            only,
            shared ? "shared" : "global",
            example.address,
            example.address,
            1,
        );
        index = rows[0]?.index ?? (await source.records(launch, only, 0, 1)).index[0] ?? null;
        lane = rows[0]?.lane ?? null;
    }
    index ??= (await source.records(launch, filter, 0, 1)).index[0] ?? null;
    const view = viewOf(finding, shared);
    const change: Partial<State> = {
        source: finding.source,
        line: finding.line,
        filter,
        view,
        second: view === "warps" ? "addresses" : "warps",
        record: index,
        lane,
    };
    if (launch !== model.launch.launch) model.openLaunch(launch, change);
    else model.set(change);
}

export function FindingsView() {
    const model = useModel(),
        { state } = model;
    const [text, setText] = useState(""),
        [going, setGoing] = useState(-1);
    const scope = state.wholeRun ? "run" : model.launch.launch;
    const answer = useAsk(scope, "findings-view", (signal) =>
        model.source.findings(state.wholeRun ? null : model.launch.launch, signal),
    );
    const all = answer.data ?? [],
        wanted = text.trim().toLowerCase();
    const rows = all
        .map((f, i) => ({ f, i }))
        .filter(
            ({ f }) =>
                !wanted ||
                [f.finding, f.place, f.variable, f.kernel, f.operation, f.evidence].some((part) =>
                    part?.toLowerCase().includes(wanted),
                ),
        );
    const go = (finding: FindingRow, i: number) => {
        setGoing(i);
        goToExample(model, finding)
            .catch((error) => model.say(messageOf(error)))
            .finally(() => setGoing(-1));
    };
    return (
        <>
            <Head
                tools={
                    <>
                        <Choice
                            label="Findings of"
                            value={state.wholeRun ? "run" : "launch"}
                            options={[
                                ["launch", "this launch"],
                                ["run", "whole run"],
                            ]}
                            onChoose={(value) => model.set({ wholeRun: value === "run" })}
                        />
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
                <b>{answer.data ? all.length : "…"}</b> {plural(all.length, "finding")}{" "}
                <span class="soft">ranked by possible savings</span>
            </Head>
            <div class="findings scrolled">
                {answer.error && <Failed answer={answer} />}
                {answer.waiting && !answer.data && <p class="soft working">Analysing the accesses</p>}
                {answer.data && !all.length && !state.wholeRun && !model.launch.spaces.length && <Unrecorded />}
                {answer.data && !all.length && (state.wholeRun || model.launch.spaces.length > 0) && (
                    <Empty title={`No problems found in the accesses of this ${state.wholeRun ? "run" : "launch"}.`}>
                        {!state.wholeRun && (
                            <button onClick={() => model.set({ wholeRun: true })}>Show the whole run</button>
                        )}
                    </Empty>
                )}
                {all.length > 0 && !rows.length && (
                    <Empty title={`No finding matches '${text}'.`}>
                        <button onClick={() => setText("")}>Show all</button>
                    </Empty>
                )}
                {rows.map(({ f, i }) => (
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
                                {f.source !== null && f.line !== null ? (
                                    <button
                                        class="link"
                                        onClick={() => model.set({ view: "source", source: f.source, line: f.line })}
                                    >
                                        {f.place ?? `line ${f.line}`}
                                    </button>
                                ) : (
                                    f.place
                                )}
                                {f.kernel && (
                                    <span class="soft">
                                        {" "}
                                        in <code>{shortName(f.kernel)}</code>
                                        {state.wholeRun && f.launch !== null && `, launch ${f.launch}`}
                                    </span>
                                )}
                            </p>
                            <p class="evidence">{f.evidence}</p>
                            <p class="remedy">{f.remedy}</p>
                        </div>
                        <button
                            class={`primary ${going === i ? "working" : ""}`}
                            onClick={() => go(f, i)}
                            title="Go to one occurrence"
                        >
                            Show an example
                        </button>
                    </article>
                ))}
            </div>
        </>
    );
}
