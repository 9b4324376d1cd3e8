// The report page: a summary on top, then one card a question, each with a plot and the table behind
// it.
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { Data, Memory } from "./data";
import { MemorySection } from "./memory";
import { PathSection } from "./path";
import { RunsSection } from "./runs";

const everything = JSON.parse(document.getElementById("data")!.textContent) as Data;

function Page() {
    const { run, runs, path, timeline, totals } = everything;
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
            {runs && <RunsSection runs={runs} figures={everything.figures ?? []} />}
            {path && timeline && <PathSection path={path} timeline={timeline} />}
            {totals && <MemorySection data={everything as Memory} />}
        </main>
    );
}

document.title = `ctascope: ${everything.run.path}`;
render(<Page />, document.getElementById("page")!);
