// What is wrong, the costliest first: where, the evidence, a remedy, and the ceiling of the gain. A
// click goes to an instance of it.
import { useState } from "preact/hooks";
import { percent, shortName } from "../format";
import { messageOf, useAsk } from "./ask";
import { useModel, type Model } from "./model";
import { Choice, Empty, Failed, Head, plural } from "./parts";
import type { FindingRow } from "./source";
import { NO_FILTER, type State } from "./state";

// To the finding's instance: its launch, the filter on its site, the record that touched the address.
export async function goToExample(model: Model, finding: FindingRow): Promise<void> {
    const { source, run } = model, { example } = finding;
    const filter = {
        ...NO_FILTER,
        ...(finding.site !== null ? { sites: [finding.site] } : finding.source !== null && finding.line !== null ? { lines: [{ source: finding.source, line: finding.line }] } : {}),
    };
    const site = finding.site === null ? undefined : run.sites.find((s) => s.site === finding.site);
    const place: Partial<State> = { source: finding.source, line: finding.line };
    const launch = example?.launch ?? finding.launch;
    if (!example) {
        const change: Partial<State> = { ...place, filter, view: "warps", record: null, lane: null };
        return launch !== null && launch !== model.launch.launch ? model.openLaunch(launch, change) : model.set(change);
    }
    const only = { ...filter, ctas: [[example.cta, example.cta] as [number, number]], warps: [[example.warp, example.warp] as [number, number]] };
    const space = site && site.space !== "generic" ? site.space : "global";
    const { rows } = await source.touching(example.launch, only, space, example.address, example.address, 1);
    const first = rows[0] ?? null;
    const index = first ? first.index : ((await source.records(example.launch, only, 0, 1)).index[0] ?? null);
    const change: Partial<State> = { ...place, filter, view: space === "shared" ? "banks" : "sectors", second: "warps", record: index, lane: first?.lane ?? null };
    if (example.launch !== model.launch.launch) model.openLaunch(example.launch, change);
    else model.set(change);
}

export function FindingsView() {
    const model = useModel(), { state } = model;
    const [text, setText] = useState(""), [going, setGoing] = useState(-1);
    const scope = state.wholeRun ? "run" : model.launch.launch;
    const answer = useAsk(scope, "findings-view", (signal) => model.source.findings(state.wholeRun ? null : model.launch.launch, signal));
    const all = answer.data ?? [], wanted = text.trim().toLowerCase();
    const rows = all.map((f, i) => ({ f, i })).filter(({ f }) => !wanted || [f.finding, f.place, f.variable, f.kernel, f.operation, f.evidence].some((part) => part?.toLowerCase().includes(wanted)));
    const go = (finding: FindingRow, i: number) => {
        setGoing(i);
        goToExample(model, finding).catch((error) => model.say(messageOf(error))).finally(() => setGoing(-1));
    };
    return (
        <>
            <Head tools={<>
                <Choice label="Findings of" value={state.wholeRun ? "run" : "launch"} options={[["launch", "this launch"], ["run", "whole run"]]} onChoose={(value) => model.set({ wholeRun: value === "run" })} />
                <input type="search" placeholder="Find" aria-label="Find a finding" value={text} onInput={(event) => setText(event.currentTarget.value)} />
            </>}>
                <b>{answer.data ? all.length : "…"}</b> {plural(all.length, "finding")} <span class="soft">ranked by the traffic that could go away</span>
            </Head>
            <div class="findings scrolled">
                {answer.error && <Failed answer={answer} />}
                {answer.waiting && !answer.data && <p class="soft working">Looking through the accesses</p>}
                {answer.data && !all.length && <Empty title={`Nothing is wrong with the accesses of this ${state.wholeRun ? "run" : "launch"}.`}>
                    {!state.wholeRun && <button onClick={() => model.set({ wholeRun: true })}>Look at the whole run</button>}</Empty>}
                {all.length > 0 && !rows.length && <Empty title={`No finding matches '${text}'.`}><button onClick={() => setText("")}>Show all</button></Empty>}
                {rows.map(({ f, i }) => (
                    <article class={`finding ${f.share === null ? "wrong" : ""}`}>
                        <div class="ceiling" title={f.share === null ? "A matter of correctness, not of speed" : "At most this part of the kernel's memory traffic could go away"}>
                            {f.share === null ? <b>!</b> : <><b>{percent(f.share)}</b><i style={{ width: `${Math.max(3, 100 * Math.min(1, f.share))}%` }} /><small>at most</small></>}
                        </div>
                        <div class="says">
                            <h3>{f.finding} <span class="soft">{f.operation}{f.variable && <> of <code>{f.variable}</code></>}</span></h3>
                            <p>
                                {f.source !== null && f.line !== null ?
                                    <button class="link" onClick={() => model.set({ view: "source", source: f.source, line: f.line })}>{f.place ?? `line ${f.line}`}</button> : f.place}
                                {f.kernel && <span class="soft"> in <code>{shortName(f.kernel)}</code>{state.wholeRun && f.launch !== null && `, launch ${f.launch}`}</span>}
                            </p>
                            <p class="evidence">{f.evidence}</p>
                            <p class="remedy">{f.remedy}</p>
                        </div>
                        <button class={`primary ${going === i ? "working" : ""}`} onClick={() => go(f, i)} title="Go to an instance">{f.example ? "Show an example" : "Show accesses"}</button>
                    </article>
                ))}
            </div>
        </>
    );
}
