// The part of the report on accesses: communication, findings, partitions. `ctascope view` shows it
// too.
import type { ComponentChildren } from "preact";
import { number, type Memory } from "./data";
import { FigureCards } from "./figure";
import { bytes, count, counted, percent, shortName } from "./format";
import { Table, Warnings } from "./table";

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
                    <summary>Data</summary>
                    {props.table}
                </details>
            )}
        </section>
    );
}

function Tile({ value, label }: { value: string; label: string }) {
    return (
        <div class="tile">
            <b>{value}</b>
            <span>{label}</span>
        </div>
    );
}

function soundness(data: Memory): string[] {
    const s = data.soundness,
        notes: string[] = [];
    if (s.unrecorded_launches)
        notes.push(
            `Lower bound: ${counted(s.unrecorded_launches, "launch was", "launches were")} not recorded in full.`,
        );
    for (const text of s.missing) notes.push(`Missing: ${text}.`);
    if (s.dropped_accesses) notes.push(`${counted(s.dropped_accesses, "access", "accesses")} dropped by the recorder.`);
    if (s.incomplete_files)
        notes.push(
            `${counted(s.incomplete_files, "access file is", "access files are")} truncated: the program ended early ` +
                "or is still running.",
        );
    if (s.skipped_instructions)
        notes.push(`${counted(s.skipped_instructions, "instruction", "instructions")} could not be instrumented.`);
    if (s.unseen_allocations)
        notes.push(
            "Host writes to " +
                `${counted(s.unseen_allocations, "managed or mapped allocation", "managed or mapped allocations")}` +
                " were not recorded; the ratios exclude them.",
        );
    if (s.unordered_transfers)
        notes.push(
            `${counted(s.unordered_transfers, "transfer", "transfers")} between launches with no stream ` +
                "or event ordering: possible race.",
        );
    if (data.paper_model) notes.push("Paper model: copies and frees are ignored.");
    return notes;
}

// The busiest pair of kernels and what dominates, in two sentences.
function summary(data: Memory): string {
    const t = data.totals,
        received = number(t, "received_bytes");
    if (!number(t, "launches")) return "No kernel was launched.";
    if (!received)
        return (
            "No CTA read what a CTA of an earlier launch wrote: the launches do not communicate through " +
            "global memory."
        );
    const pair = data.kernel_pairs.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const degree = number(t, "received_transfers") / Math.max(1, number(t, "nodes"));
    return (
        `${percent(number(t, "ratio_communicated_bytes") / Math.max(1, number(t, "ratio_written_bytes")))}` +
        " of what the kernels wrote was read by a later launch. " +
        `Most of it, ${bytes(pair.bytes)}, went from ${shortName(pair.writer)} to ` +
        `${shortName(pair.reader)}; a CTA of a launch received from ` +
        `${count(Math.round(degree * 10) / 10)} ${Math.round(degree * 10) === 10 ? "CTA" : "CTAs"} on ` +
        "average."
    );
}

function Volumes({ data }: { data: Memory }) {
    const rows = data.kernels.map((k) => [
        <Kernel name={k["name"] as string | null} />,
        count(number(k, "launches")),
        bytes(number(k, "global_read_unique_bytes")),
        bytes(number(k, "global_written_unique_bytes")),
        bytes(number(k, "received_bytes")),
        bytes(number(k, "communicated_out_bytes")),
        percent(number(k, "communicated_out_bytes") / number(k, "global_written_unique_bytes")),
        bytes(number(k, "from_host_bytes")),
        bytes(number(k, "host_read_bytes")),
    ]);
    return (
        <Card
            title="Kernels"
            says={
                "Bytes of global memory, each counted once per CTA (thread block) and launch. Received: last " +
                "written by a kernel. Communicated: written, and read by a later launch before it was " +
                "overwritten."
            }
        >
            <Table
                columns={[
                    { title: "kernel", text: true },
                    { title: "launches" },
                    { title: "read" },
                    { title: "written" },
                    { title: "received" },
                    { title: "communicated" },
                    { title: "of written" },
                    { title: "from host" },
                    { title: "read by host" },
                ]}
                rows={rows}
            />
        </Card>
    );
}

function Pairs({ data }: { data: Memory }) {
    const pairs = [...data.kernel_pairs].sort((a, b) => b.bytes - a.bytes);
    if (!pairs.length) return null;
    return (
        <Card
            title="Kernel to kernel"
            says="Transfers between kernels: total for each pair of writing and reading kernel."
        >
            <Table
                columns={[
                    { title: "writer", text: true },
                    { title: "reader", text: true },
                    { title: "transfers" },
                    { title: "bytes" },
                    { title: "bytes accessed" },
                ]}
                rows={pairs.map((p) => [
                    <Kernel name={p.writer} />,
                    <Kernel name={p.reader} />,
                    count(p.transfers),
                    bytes(p.bytes),
                    bytes(p.access_bytes),
                ])}
            />
            {data.kernel_pairs_left_out > 0 && (
                <p class="soft">{counted(data.kernel_pairs_left_out, "more pair is", "more pairs are")} not shown.</p>
            )}
        </Card>
    );
}

export function MemorySection({ data }: { data: Memory }) {
    const t = data.totals,
        notes = soundness(data);
    return (
        <>
            <p>{summary(data)}</p>
            {data.partition_answer && <p class="lines">Split over several GPUs: {data.partition_answer.trim()}</p>}
            <Warnings texts={notes} />
            <div class="tiles">
                <Tile value={count(number(t, "launches"))} label="kernel launches" />
                <Tile value={bytes(number(t, "global_read_unique_bytes"))} label="read, each byte once per CTA" />
                <Tile value={bytes(number(t, "global_written_unique_bytes"))} label="written, each byte once per CTA" />
                <Tile
                    value={percent(number(t, "ratio_communicated_bytes") / number(t, "ratio_written_bytes"))}
                    label="of written bytes are communicated"
                />
                <Tile value={count(number(t, "received_transfers"))} label="transfers between CTAs" />
                <Tile value={bytes(number(t, "conflict_bytes"))} label="in write conflicts" />
            </div>
            <Volumes data={data} />
            <Pairs data={data} />
            <div class="cards">
                <FigureCards figures={data.figures} />
            </div>
        </>
    );
}
