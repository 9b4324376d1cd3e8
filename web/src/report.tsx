// The report page: a summary on top, then one card a question, each with a plot and the table behind
// it.
import { render, type ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { number, type Data } from "./data";
import { bytes, count, percent, short } from "./format";
import { Heatmap, type Cell } from "./heatmap";
import { Plot } from "./plot";

const data = JSON.parse(document.getElementById("data")!.textContent!) as Data;

interface Column {
    title: string;
    text?: boolean;
}

function Table({ columns, rows }: { columns: Column[]; rows: ComponentChildren[][] }) {
    return (
        <div class="scroll">
            <table>
                <thead>
                    <tr>{columns.map((c) => <th class={c.text ? "text" : ""}>{c.title}</th>)}</tr>
                </thead>
                <tbody>
                    {rows.map((row) => (
                        <tr>{row.map((cell, i) => <td class={columns[i]!.text ? "text" : ""}>{cell}</td>)}</tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

// A kernel's name without its parameters; the whole name on hover.
function shortName(name: string | null): string {
    if (!name) return "?";
    let depth = 0;
    for (let i = name.length - 1; name.endsWith(")") && i > 0; i--) {
        if (name[i] === ")") depth++;
        if (name[i] === "(" && --depth === 0) return name.slice(0, i);
    }
    return name;
}

function Kernel({ name }: { name: string | null }) {
    return <code title={name ?? ""}>{shortName(name)}</code>;
}

function Card(props: { title: string; says: string; children: ComponentChildren; table?: ComponentChildren }) {
    return (
        <section class="card">
            <h2>{props.title}</h2>
            <p class="soft">{props.says}</p>
            {props.children}
            {props.table && (
                <details>
                    <summary>The numbers</summary>
                    {props.table}
                </details>
            )}
        </section>
    );
}

function Tile({ value, label }: { value: string; label: string }) {
    return <div class="tile"><b>{value}</b><span>{label}</span></div>;
}

function soundness(): string[] {
    const s = data.soundness, notes: string[] = [];
    const plural = (n: number, one: string, many: string) => `${count(n)} ${n === 1 ? one : many}`;
    if (s.unrecorded_launches)
        notes.push(`Lower bound: ${plural(s.unrecorded_launches, "launch was", "launches were")} not recorded in full.`);
    if (s.dropped_accesses) notes.push(`${plural(s.dropped_accesses, "access", "accesses")} dropped by the recorder.`);
    if (s.incomplete_files) notes.push(`${plural(s.incomplete_files, "access file ends", "access files end")} too early: the program was killed.`);
    if (s.skipped_instructions) notes.push(`${plural(s.skipped_instructions, "instruction", "instructions")} could not be instrumented.`);
    if (s.unseen_allocations) notes.push(`Host writes to ${plural(s.unseen_allocations, "managed or mapped allocation", "managed or mapped allocations")} were not seen; they are left out of the ratios.`);
    if (s.unordered_transfers) notes.push(`${plural(s.unordered_transfers, "transfer", "transfers")} between launches that nothing orders but their recorded start.`);
    if (data.paper_model) notes.push("Paper model: copies and frees are not followed.");
    return notes;
}

// The busiest pair of kernels and what dominates, in two sentences.
function summary(): string {
    const t = data.totals, received = number(t, "received_bytes");
    if (!number(t, "launches")) return "No kernel was launched.";
    if (!received)
        return "No CTA read what a CTA of an earlier launch wrote: the launches do not communicate through global memory.";
    const pair = data.kernel_pairs.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const degree = data.in_degrees.reduce((sum, [d, n]) => sum + d * n, 0) / Math.max(1, data.in_degrees.reduce((sum, [, n]) => sum + n, 0));
    return `${percent(number(t, "ratio_communicated_bytes") / Math.max(1, number(t, "ratio_written_bytes")))} of what the kernels wrote was read by a later launch. ` +
        `Most of it, ${bytes(pair.bytes)}, went from ${shortName(pair.writer)} to ${shortName(pair.reader)}; a CTA of a launch received from ${count(Math.round(degree * 10) / 10)} CTAs on average.`;
}

function Volumes() {
    const rows = data.kernels.map((k) => [
        <Kernel name={k["name"] as string | null} />, count(number(k, "launches")),
        bytes(number(k, "global_read_unique_bytes")), bytes(number(k, "global_written_unique_bytes")),
        bytes(number(k, "received_bytes")), bytes(number(k, "communicated_out_bytes")),
        percent(number(k, "communicated_out_bytes") / number(k, "global_written_unique_bytes")),
        bytes(number(k, "from_host_bytes")), bytes(number(k, "host_read_bytes")),
    ]);
    return (
        <Card title="Kernels" says="Bytes of global memory, each counted once per CTA (thread block) and launch. Received: last written by a kernel. Communicated: written, and read by a later launch before it was overwritten.">
            <Table columns={[{ title: "kernel", text: true }, { title: "launches" }, { title: "read" }, { title: "written" },
                { title: "received" }, { title: "communicated" }, { title: "of written" }, { title: "from host" }, { title: "read by host" }]} rows={rows} />
        </Card>
    );
}

function Pairs() {
    const pairs = [...data.kernel_pairs].sort((a, b) => b.bytes - a.bytes);
    if (!pairs.length) return null;
    return (
        <Card title="Who talks to whom" says="Transfers, added up by the kernel that wrote and the kernel that read.">
            <Table columns={[{ title: "writer", text: true }, { title: "reader", text: true }, { title: "transfers" }, { title: "bytes" }, { title: "bytes accessed" }]}
                rows={pairs.map((p) => [<Kernel name={p.writer} />, <Kernel name={p.reader} />, count(p.transfers), bytes(p.bytes), bytes(p.access_bytes)])} />
            {data.kernel_pairs_left_out > 0 && <p class="soft">{count(data.kernel_pairs_left_out)} more pairs are left out.</p>}
        </Card>
    );
}

function Sizes() {
    const points = useMemo(() => {
        const total = data.transfer_sizes.reduce((sum, [, n]) => sum + n, 0);
        let sum = 0;
        return data.transfer_sizes.map(([size, n]) => ({ size, n, share: (sum += n) / total }));
    }, []);
    const plot = useMemo(() => {
        // A step needs a start: nothing is smaller than the smallest.
        const first = points[0]?.size ?? 1, last = points[points.length - 1]?.size ?? 1;
        return {
            x: [Math.max(first / 2, 0.5), ...points.map((p) => p.size), last * 2],
            series: [{ label: "transfers up to this size", values: [0, ...points.map((p) => p.share), 1], colour: "loads" as const }],
        };
    }, []);
    if (!points.length) return null;
    return (
        <Card title="Transfer sizes" says="Share of transfers (from one CTA of one launch to one CTA of another) of at most so many bytes."
            table={<Table columns={[{ title: "bytes" }, { title: "transfers" }, { title: "cumulative" }]}
                rows={points.slice(0, 1000).map((p) => [count(p.size), count(p.n), percent(p.share)])} />}>
            <Plot kind="step" x={plot.x} series={plot.series} xLog yRange={[0, 1.02]} xLabel="bytes of a transfer" yLabel="share of transfers"
                xText={(v) => bytes(v)} yText={(v) => percent(v)} />
        </Card>
    );
}

// Few degrees get a bar each; many are binned by powers of two.
function degreeBins(): { names: string[]; incoming: number[]; outgoing: number[] } {
    const keys = [...new Set([...data.in_degrees, ...data.out_degrees].map(([d]) => d))].sort((a, b) => a - b);
    const bins = keys.length <= 24
        ? keys.map((d) => [d, d] as const)
        : [[0, 0] as const, ...Array.from({ length: Math.floor(Math.log2(keys[keys.length - 1]!)) + 1 }, (_, i) => [2 ** i, 2 ** (i + 1) - 1] as const)];
    const sum = (list: [number, number][]) => bins.map(([low, high]) =>
        list.reduce((total, [d, n]) => total + (d >= low && d <= high ? n : 0), 0));
    return {
        names: bins.map(([low, high]) => (low === high ? String(low) : `${short(low)}–${high < 10000 ? high : short(high)}`)),
        incoming: sum(data.in_degrees),
        outgoing: sum(data.out_degrees),
    };
}

function Degrees() {
    const bins = useMemo(degreeBins, []);
    const total = Math.max(1, bins.incoming.reduce((a, b) => a + b, 0));
    const series = useMemo(() => [
        { label: "incoming", values: bins.incoming.map((n) => n / total), colour: "incoming" as const },
        { label: "outgoing", values: bins.outgoing.map((n) => n / total), colour: "outgoing" as const },
    ], []);
    const x = useMemo(() => bins.names.map((_, i) => i), []);
    if (!data.transfer_sizes.length) return null; // nobody has a partner, which the summary says
    return (
        <Card title="Partners of a CTA" says="How many CTAs a CTA of a launch received from, and sent to: the share of CTAs, those without a partner included."
            table={<Table columns={[{ title: "partners" }, { title: "receiving CTAs" }, { title: "sending CTAs" }]}
                rows={bins.names.map((name, i) => [name, count(bins.incoming[i]!), count(bins.outgoing[i]!)])} />}>
            <Plot kind="bars" x={x} series={series} xLabel="partners" yLabel="share of CTAs"
                xText={(v) => (Number.isInteger(v) ? bins.names[v] ?? "" : "")} yText={(v) => percent(v)} />
        </Card>
    );
}

function Evolution() {
    const launches = data.launches;
    const plots = useMemo(() => {
        const x = launches.map((l) => l.ordinal);
        return {
            x,
            volumes: [
                { label: "received by this launch", values: launches.map((l) => l.received_bytes), colour: "loads" as const },
                { label: "written, read later", values: launches.map((l) => l.communicated_out_bytes), colour: "stores" as const },
            ],
            degrees: [
                { label: "incoming", values: launches.map((l) => (l.counted ? l.in_mean : null)), colour: "incoming" as const },
                { label: "outgoing", values: launches.map((l) => (l.counted ? l.out_mean : null)), colour: "outgoing" as const },
            ],
        };
    }, []);
    if (launches.length < 2) return null;
    const name = (v: number) => (Number.isInteger(v) ? String(v) : "");
    return (
        <Card title="Launch by launch" says="Volume and number of partners over the run. A launch receives what earlier ones wrote; what it writes counts where a later one reads it."
            table={<Table columns={[{ title: "launch" }, { title: "kernel", text: true }, { title: "CTAs" }, { title: "read" }, { title: "written" },
                { title: "received" }, { title: "read later" }, { title: "in-degree" }, { title: "out-degree" }]}
                rows={launches.slice(0, 1000).map((l) => [l.launch, <Kernel name={l.kernel} />, count(l.ctas), bytes(l.read_bytes), bytes(l.written_bytes),
                    bytes(l.received_bytes), bytes(l.communicated_out_bytes),
                    l.counted ? `${l.in_mean.toFixed(2)} ± ${l.in_deviation.toFixed(2)}` : "–",
                    l.counted ? `${l.out_mean.toFixed(2)} ± ${l.out_deviation.toFixed(2)}` : "–"])} />}>
            <div class="columns">
                <Plot kind="line" x={plots.x} series={plots.volumes} xLabel="launch" yLabel="bytes" yBytes xText={name} yText={(v) => bytes(v)} height={250} />
                <Plot kind="line" x={plots.x} series={plots.degrees} xLabel="launch" yLabel="partners of a CTA" xText={name} yText={(v) => short(Math.round(v * 100) / 100)} height={250} />
            </div>
            {data.launches_left_out > 0 && <p class="soft">The first {count(launches.length)} launches; {count(data.launches_left_out)} more are left out here.</p>}
        </Card>
    );
}

function Density() {
    const [what, setWhat] = useState<"bytes" | "transfers">("bytes");
    const density = data.density;
    const cells = useMemo<Cell[]>(() => density.cells.map(([x, y, transfers, volume]) =>
        ({ x, y, value: what === "bytes" ? volume : transfers })), [what]);
    if (!density.cells.length) return null;
    const bin = (i: number) => density.bin_ctas === 1 ? String(i)
        : `${i * density.bin_ctas}–${Math.min((i + 1) * density.bin_ctas, density.cta_count) - 1}`;
    return (
        <Card title="CTA to CTA" says={`Writing CTA against reading CTA over the whole run, whatever the kernel; CTA ids count x first.${density.bin_ctas > 1 ? ` A cell is ${density.bin_ctas} by ${density.bin_ctas} CTAs.` : ""}`}>
            <p>
                <label><input type="radio" checked={what === "bytes"} onChange={() => setWhat("bytes")} /> bytes</label>{" "}
                <label><input type="radio" checked={what === "transfers"} onChange={() => setWhat("transfers")} /> transfers</label>
            </p>
            <Heatmap columns={density.bins} rows={density.bins} cells={cells} xLabel="writing CTA" yLabel="reading CTA"
                binText={bin} valueText={(v) => (what === "bytes" ? bytes(v) : `${count(v)} transfers`)} />
        </Card>
    );
}

function Page() {
    const t = data.totals, notes = soundness();
    return (
        <main>
            <h1>{(data.run.program ?? data.run.path).split("/").pop()}</h1>
            <p class="soft">
                {[data.run.arguments ?? data.run.program, data.run.host && `on ${data.run.host}`, data.run.device, data.run.created,
                    `ctascope ${data.run.version}`].filter(Boolean).join(" · ")}
            </p>
            <p>{summary()}</p>
            {notes.length > 0 && <div class="warning"><ul>{notes.map((note) => <li>{note}</li>)}</ul></div>}
            <div class="tiles">
                <Tile value={count(number(t, "launches"))} label="kernel launches" />
                <Tile value={bytes(number(t, "global_read_unique_bytes"))} label="read, each byte once per CTA" />
                <Tile value={bytes(number(t, "global_written_unique_bytes"))} label="written, each byte once per CTA" />
                <Tile value={percent(number(t, "ratio_communicated_bytes") / number(t, "ratio_written_bytes"))} label="of written bytes communicated" />
                <Tile value={count(number(t, "received_transfers"))} label="transfers between CTAs" />
                <Tile value={bytes(number(t, "conflict_bytes"))} label="in write conflicts" />
            </div>
            <Volumes />
            <Pairs />
            <div class="columns">
                <Sizes />
                <Degrees />
            </div>
            <Evolution />
            <Density />
        </main>
    );
}

document.title = `ctascope: ${data.run.path}`;
render(<Page />, document.getElementById("page")!);
