// Several runs beside each other: a row for each, and the figures that show all of them.
import type { RunRow } from "./data";
import { FigureCards, type Figure } from "./figure";
import { bytes, count, percent } from "./format";
import { Table } from "./table";

export function RunsSection({ runs, figures }: { runs: RunRow[]; figures: Figure[] }) {
    return (
        <>
            <section class="card">
                <h2>Runs</h2>
                <p class="soft">
                    Bytes of global memory, each counted once per CTA (thread block) and launch. Received: last written
                    by a kernel. Communicated: share of the written bytes that a later launch reads before they are
                    overwritten.
                </p>
                <Table
                    columns={[
                        { title: "run", text: true },
                        { title: "program", text: true },
                        { title: "launches" },
                        { title: "CTAs" },
                        { title: "read" },
                        { title: "written" },
                        { title: "received" },
                        { title: "communicated" },
                    ]}
                    rows={runs.map((r) => [
                        <b title={r.path}>{r.name}</b>,
                        <code title={r.program}>{r.program.split("/").pop()}</code>,
                        count(r.launches),
                        count(r.ctas),
                        bytes(r.read_bytes),
                        bytes(r.written_bytes),
                        bytes(r.received_bytes),
                        percent(r.communicated_fraction),
                    ])}
                />
            </section>
            <div class="cards">
                <FigureCards figures={figures} />
            </div>
        </>
    );
}
