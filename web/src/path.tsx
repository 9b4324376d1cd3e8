// What the time waits on: the critical path, waits and blame, over the timeline.
import { useState } from "preact/hooks";
import { count, counted, fitted, percent, rating, time } from "./format";
import { Table, Warnings } from "./table";
import { Timeline } from "./timeline";
import type { TimelineData } from "./timeline-frame";

export interface Activity {
    activity: string;
    short_name: string;
    where: string;
    calls: number;
    inclusive_ns: number;
    path_ns: number;
    path_share: number | null;
    blame_ns: number;
    blame_share: number | null;
    rating: number;
    startup: boolean; // start-up or shutdown: MPI_Init, before the first event
    occupancy?: number | null; // of kernels, where a recording of memory knows them
    memory_efficiency?: number | null;
}

interface Wait {
    pattern: string;
    duration_ns: number;
    begin_ns: number;
    location: string;
    waits_for: string | null;
    blamed: string | null;
    blamed_activity: string | null;
    blamed_short_name: string | null;
}

interface Device {
    rank: number;
    device: string | null;
    activities: number;
    startup_ns: number;
    span_ns: number;
    idle_share: number;
    copy_ns: number;
    copy_missed_ns: number;
}

interface Rank {
    rank: number;
    delayed_ns: number;
    delayed_count: number;
    waited_ns: number;
    longer_activity: string | null;
    longer_ns: number;
}

export interface PathData {
    processes: number;
    locations: number;
    streams: number;
    events: number;
    path_ns: number;
    path_host_ns: number;
    path_device_ns: number;
    path_mpi_ns: number;
    path_latency_ns: number;
    path_jumps: number;
    wait_ns: number;
    activities: Activity[];
    patterns: {
        pattern: string;
        count: number;
        time_ns: number;
        share: number | null;
        longest_ns: number;
        meaning: string;
    }[];
    longest_waits: Wait[]; // those of the terminal's list
    devices: Device[];
    ranks: Rank[];
    summary: string[]; // as `ctascope path` prints it
    lower_bound: boolean;
    missing: string[];
    warnings: { text: string; count: number }[];
}

const ROWS = 200;

// A bar behind a share, so that a column can be read at a glance.
function Share({ share }: { share: number | null }) {
    return (
        <span class="share" style={{ "--share": `${100 * (share ?? 0)}%` }}>
            {percent(share)}
        </span>
    );
}

function Activities({ path }: { path: PathData }) {
    const [key, sort] = useState<"rating" | "path_ns" | "blame_ns" | "inclusive_ns">("rating");
    const rows = path.activities.filter((a) => !a.startup).sort((a, b) => b[key] - a[key]);
    const kernels = rows.some((a) => typeof a.occupancy === "number" || typeof a.memory_efficiency === "number");
    return (
        <section class="card">
            <h2>Where to look first</h2>
            <p class="soft">
                Activities ranked by rating: their share of the critical path plus their share of the blame for all
                waiting time, 0 to 2. Start-up and shutdown are left out.
            </p>
            <p class="tabs" role="tablist">
                {(
                    [
                        ["rating", "rating"],
                        ["path_ns", "critical path"],
                        ["blame_ns", "blame"],
                        ["inclusive_ns", "inclusive"],
                    ] as const
                ).map(([name, text]) => (
                    <button role="tab" aria-selected={key === name} onClick={() => sort(name)}>
                        {text}
                    </button>
                ))}
            </p>
            <Table
                columns={[
                    { title: "activity", text: true },
                    { title: "where", text: true },
                    { title: "calls" },
                    { title: "inclusive" },
                    { title: "on path" },
                    { title: "path%" },
                    { title: "blame" },
                    { title: "blame%" },
                    { title: "rating" },
                    ...(kernels ? [{ title: "occup." }, { title: "mem.eff" }] : []),
                ]}
                rows={rows
                    .slice(0, ROWS)
                    .map((a) => [
                        <code title={a.activity}>{fitted(a.short_name)}</code>,
                        a.where,
                        a.calls ? count(a.calls) : "-",
                        a.inclusive_ns ? time(a.inclusive_ns) : "-",
                        time(a.path_ns),
                        <Share share={a.path_share} />,
                        time(a.blame_ns),
                        <Share share={a.blame_share} />,
                        rating(a.rating),
                        ...(kernels ? [percent(a.occupancy ?? null), percent(a.memory_efficiency ?? null)] : []),
                    ])}
                left={Math.max(0, rows.length - ROWS)}
            />
        </section>
    );
}

function Waits({ path }: { path: PathData }) {
    const patterns = path.patterns.filter((p) => p.count).sort((a, b) => b.time_ns - a.time_ns);
    if (!patterns.length) return null;
    return (
        <section class="card">
            <h2>Wait states</h2>
            <p class="soft">Waiting time by pattern, with the longest wait of each.</p>
            <Table
                columns={[
                    { title: "pattern", text: true },
                    { title: "waits" },
                    { title: "time" },
                    { title: "share" },
                    { title: "longest" },
                    { title: "what it is", text: true },
                ]}
                rows={patterns.map((p) => [
                    p.pattern,
                    count(p.count),
                    time(p.time_ns),
                    <Share share={p.share} />,
                    time(p.longest_ns),
                    <span class="wrap">{p.meaning}</span>,
                ])}
            />
            <h3>Longest waits, including the longest of each pattern above 1% of waiting time</h3>
            <Table
                columns={[
                    { title: "pattern", text: true },
                    { title: "waited" },
                    { title: "from" },
                    { title: "where", text: true },
                    { title: "waits for", text: true },
                    { title: "to blame", text: true },
                    { title: "which ran", text: true },
                ]}
                rows={path.longest_waits.map((i) => [
                    i.pattern,
                    time(i.duration_ns),
                    <a
                        href={
                            `#t=${Math.max(0, Math.round(i.begin_ns - i.duration_ns / 2))}-` +
                            `${Math.min(path.path_ns, Math.round(i.begin_ns + 1.5 * i.duration_ns))}`
                        }
                    >
                        {time(i.begin_ns)}
                    </a>,
                    i.location,
                    i.waits_for ?? "-",
                    i.blamed ?? "-",
                    <code title={i.blamed_activity ?? ""}>{fitted(i.blamed_short_name ?? "-")}</code>,
                ])}
            />
        </section>
    );
}

function Devices({ path }: { path: PathData }) {
    if (!path.devices.length) return null;
    return (
        <section class="card">
            <h2>Devices</h2>
            <p class="soft">Missed: copies that a kernel of another stream could have hidden, at most.</p>
            <Table
                columns={[
                    { title: "device", text: true },
                    { title: "activities" },
                    { title: "start-up" },
                    { title: "in use for" },
                    { title: "idle" },
                    { title: "copies" },
                    { title: "missed" },
                ]}
                rows={path.devices.map((d) => [
                    `rank ${d.rank}: ${d.device === null ? "its device" : `device ${d.device}`}`,
                    count(d.activities),
                    time(d.startup_ns),
                    time(d.span_ns),
                    percent(d.idle_share),
                    time(d.copy_ns),
                    time(d.copy_missed_ns),
                ])}
            />
        </section>
    );
}

/** The ranks that others wait for most. */
function Ranks({ path }: { path: PathData }) {
    const ranks = path.ranks.filter((r) => r.delayed_ns > 0).sort((a, b) => b.delayed_ns - a.delayed_ns);
    if (!ranks.length) return null;
    return (
        <section class="card">
            <h2>Ranks that others wait for</h2>
            <p class="soft">Longer by: above the mean of the other ranks, in the activity with most of it.</p>
            <Table
                columns={[
                    { title: "rank" },
                    { title: "others wait" },
                    { title: "waits" },
                    { title: "it waits" },
                    { title: "longer by" },
                    { title: "in", text: true },
                ]}
                rows={ranks
                    .slice(0, ROWS)
                    .map((r) => [
                        r.rank,
                        time(r.delayed_ns),
                        count(r.delayed_count),
                        time(r.waited_ns),
                        time(r.longer_ns),
                        r.longer_activity ?? "",
                    ])}
            />
        </section>
    );
}

export function PathSection({ path, timeline }: { path: PathData; timeline: TimelineData }) {
    const notes = [
        ...path.warnings.map((w) => `${count(w.count)} ${w.text}`),
        ...(path.lower_bound ? ["LOWER BOUND: recorded data is missing or damaged"] : []),
        ...path.missing.map((text) => `Missing: ${text}`),
    ];
    return (
        <>
            <p>{path.summary.join(" ")}</p>
            <Warnings texts={notes} />
            <section class="card">
                <h2>Timeline</h2>
                <p class="soft">
                    {counted(path.processes, "process", "processes")},{" "}
                    {counted(path.locations, "thread or stream", "threads and streams")},{" "}
                    {counted(path.events, "event", "events")}. Activities of each, the critical path above them, waits
                    below.
                </p>
                <Timeline data={timeline} />
            </section>
            <Activities path={path} />
            <Waits path={path} />
            <Ranks path={path} />
            <Devices path={path} />
        </>
    );
}
