// The report page: what to do first, then a card a question, each with a plot and the table behind it.
import { render } from "preact";
import { useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Contents } from "./contents";
import type { Data, Memory } from "./data";
import { FlowFindings, FlowSection, type Wanted } from "./flow";
import type { FlowFinding } from "./flow-data";
import { learnNames } from "./format";
import { MemorySection } from "./memory";
import { PathSection } from "./path";
import { RunFindingList } from "./run-findings";
import { RunsSection } from "./runs";

const everything = JSON.parse(document.getElementById("data")!.textContent) as Data;

interface FindingsProps {
    data: NonNullable<Data["run_findings"]>;
    flow?: Data["flow"];
    onOpen: (shown: FlowFinding | null) => void;
}
function Findings({ data, flow, onOpen }: FindingsProps) {
    return (
        <section class="card findings">
            <h2>What to do first</h2>
            <p class="soft">Each finding with the share of {data.basis} that it could save at most.</p>
            {flow && <FlowFindings data={flow} races={true} onOpen={onOpen} />}
            <RunFindingList
                data={data}
                place={(row) => row.place}
                actions={(row) =>
                    row.from === undefined || row.to === undefined ? null : (
                        <p class="links">
                            <a href={`#t=${row.from}-${Math.max(row.from + 1, row.to)}`}>Show in the timeline</a>
                        </p>
                    )
                }
            />
        </section>
    );
}

function Page() {
    const { run, runs, path, timeline, totals, run_findings, flow } = everything;
    const [finding, setFinding] = useState<Wanted>(null);
    const open = (f: FlowFinding | null) => {
        setFinding(f && { index: flow!.findings.indexOf(f) });
        document.querySelector(".card.flow")!.scrollIntoView();
    };
    return (
        <main>
            <h1>{(run.program || run.path).split("/").pop()}</h1>
            <p class="soft">
                {[
                    run.arguments ?? run.program,
                    run.host && `on ${run.host}`,
                    run.device,
                    run.created,
                    `ctascope ${run.version}`,
                ]
                    .filter(Boolean)
                    .join(" · ")}
            </p>
            <Contents />
            {run_findings && <Findings data={run_findings} flow={flow} onOpen={open} />}
            {runs && <RunsSection runs={runs} figures={everything.figures ?? []} />}
            {path && timeline && <PathSection path={path} timeline={timeline} />}
            {flow && flow.places.length > 0 && (
                <section class="card flow">
                    <h2>Between launches, copies and the host</h2>
                    <FlowSection data={flow} finding={finding} />
                </section>
            )}
            {totals && <MemorySection data={everything as Memory} />}
        </main>
    );
}

learnNames(everything.kernel_names ?? []);
document.title = `ctascope: ${everything.run.path}`;
render(<Page />, document.getElementById("page")!);
