// What the time waits on: the critical path, waits and blame, over the timeline.
import { useState } from "preact/hooks";
import { count, percent, time } from "./format";
import { Table } from "./table";
import { Timeline, type TimelineData } from "./timeline";

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
    patterns: { pattern: string; count: number; time_ns: number; share: number | null; longest_ns: number; meaning: string }[];
    instances: { pattern: string; duration_ns: number; begin_ns: number; location: string; culprit: string | null; blamed: string | null; blamed_activity: string | null }[];
    summary: string[]; // as `ctascope path` prints it
    warnings: { text: string; count: number }[];
}

const ROWS = 200;

// A bar behind a share, so that a column can be read at a glance.
function Share({ share }: { share: number | null }) {
    return <span class="share" style={{ "--share": `${100 * (share ?? 0)}%` }}>{percent(share)}</span>;
}

function Activities({ path }: { path: PathData }) {
    const [key, sort] = useState<"rating" | "path_ns" | "blame_ns" | "inclusive_ns">("rating");
    const rows = [...path.activities].sort((a, b) => b[key] - a[key]);
    return (
        <section class="card">
            <h2>Where to look first</h2>
            <p class="soft">Activities ranked by rating: their share of the critical path plus their share of the blame for all waiting time, 0 to 2.</p>
            <p class="tabs" role="tablist">
                {([["rating", "rating"], ["path_ns", "critical path"], ["blame_ns", "blame"], ["inclusive_ns", "time"]] as const).map(([name, text]) =>
                    <button role="tab" aria-selected={key === name} onClick={() => sort(name)}>{text}</button>)}
            </p>
            <Table columns={[{ title: "activity", text: true }, { title: "where", text: true }, { title: "calls" }, { title: "time" }, { title: "on the path" },
                { title: "of the path" }, { title: "blame" }, { title: "of the waiting" }, { title: "rating" }]}
                rows={rows.slice(0, ROWS).map((a) => [<code title={a.activity}>{a.short_name}</code>, a.where, count(a.calls), time(a.inclusive_ns), time(a.path_ns),
                    <Share share={a.path_share} />, time(a.blame_ns), <Share share={a.blame_share} />, a.rating.toFixed(3)])} left={Math.max(0, rows.length - ROWS)} />
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
            <Table columns={[{ title: "pattern", text: true }, { title: "waits" }, { title: "time" }, { title: "of the waiting" }, { title: "longest" }, { title: "meaning", text: true }]}
                rows={patterns.map((p) => [p.pattern, count(p.count), time(p.time_ns), <Share share={p.share} />, time(p.longest_ns), <span class="wrap">{p.meaning}</span>])} />
            <details>
                <summary>The longest waits</summary>
                <Table columns={[{ title: "pattern", text: true }, { title: "waited" }, { title: "from" }, { title: "where", text: true }, { title: "waits for", text: true }, { title: "culprit", text: true }, { title: "running", text: true }]}
                    rows={path.instances.map((i) => [i.pattern, time(i.duration_ns), <a href={`#t=${Math.max(0, Math.round(i.begin_ns - i.duration_ns / 2))}-${Math.round(i.begin_ns + 1.5 * i.duration_ns)}`}>{time(i.begin_ns)}</a>,
                        i.location, i.culprit ?? "–", i.blamed ?? "–", <code>{i.blamed_activity ?? "–"}</code>])} />
            </details>
        </section>
    );
}

export function PathSection({ path, timeline }: { path: PathData; timeline: TimelineData }) {
    return (
        <>
            <p>{path.summary.join(" ")}</p>
            {path.warnings.length > 0 && <div class="warning"><ul>{path.warnings.map((w) => <li>{count(w.count)} {w.text}</li>)}</ul></div>}
            <section class="card">
                <h2>Timeline</h2>
                <p class="soft">
                    {count(path.processes)} {path.processes === 1 ? "process" : "processes"}, {count(path.locations)} threads and streams, {count(path.events)} events. Activities of each, the
                    critical path above them, waits below.
                </p>
                <Timeline data={timeline} />
            </section>
            <Activities path={path} />
            <Waits path={path} />
        </>
    );
}
