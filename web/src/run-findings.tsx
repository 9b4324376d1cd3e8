// What to do first: the findings of a whole run, of its time and of its memory accesses, by what each could save. The
// list, its order and every sentence are the analysis's (src/report/run-findings.h); the page of `view` and the
// report show it alike.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count, percent, shortName } from "./format";

export interface RunFinding {
    order: "fault" | "change" | "elsewhere";
    gain: number | null; // share of the run that it could save at most; null: of correctness
    about: "fault" | "access" | "time";
    finding: string;
    operation?: string | null;
    variable?: string | null;
    activity?: string; // of time: on the critical path
    activityShort?: string;
    kernel: string | null;
    kernelShort: string | null;
    place: string | null;
    source?: number | null;
    line?: number | null;
    site?: number | null;
    launch: number | null; // the first of the kernel with accesses
    share?: number | null; // of its kernel's traffic
    system?: string | null;
    evidence: string;
    remedy: string;
    state: string; // exact, sampled, lower bound, measured
    stateText: string;
    example?: { launch: number; cta: number; warp: number; address: number } | null;
    from?: number; // ns: where it is longest on the critical path
    to?: number;
}

export interface RunFindings {
    basis: string; // what gains are shares of
    duration: number; // ns; 0: there is no timeline
    rows: RunFinding[];
    left: number;
    notes: string[];
    missing: { text: string; command: string }[];
}

const SMALL = 0.01; // folded below this share of the run

export const isSmall = (row: RunFinding) => row.gain !== null && row.gain < SMALL;

function Gain({ row, basis }: { row: RunFinding; basis: string }) {
    if (row.gain === null)
        return (
            <div class="ceiling" title="Affects correctness, not speed">
                <b>!</b>
                <small>results may be wrong</small>
            </div>
        );
    return (
        <div class="ceiling" title={`Could save at most this share of ${basis}`}>
            <b>{percent(row.gain)}</b>
            <i style={{ width: `${Math.max(3, 100 * Math.min(1, row.gain))}%` }} />
            <small>of {basis} at most</small>
        </div>
    );
}

function Subject({ row }: { row: RunFinding }) {
    if (row.activity !== undefined)
        return <code title={row.activity}>{shortName(row.activityShort ?? row.activity)}</code>;
    return (
        <>
            {row.operation}
            {row.variable && (
                <>
                    {row.operation && " of "}
                    <code>{row.variable}</code>
                </>
            )}
        </>
    );
}

// Where in the run an activity is longest on the critical path.
function TimeCut({ row, duration }: { row: RunFinding; duration: number }) {
    if (row.from === undefined || row.to === undefined || !duration) return null;
    const left = (100 * row.from) / duration,
        width = Math.max(0.7, (100 * (row.to - row.from)) / duration);
    return (
        <svg class="cut" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="Its place in the run">
            <rect width="100" height="6" class="whole" />
            <rect x={Math.min(left, 99.3)} width={width} height="6" class="part" />
        </svg>
    );
}

interface ListProps {
    data: RunFindings;
    place: (row: RunFinding) => ComponentChildren; // its line, as a link where there is one
    picture?: (row: RunFinding) => ComponentChildren;
    actions?: (row: RunFinding) => ComponentChildren;
    between?: ComponentChildren; // what else was found: about launches, copies and the host
}

function Card({ row, data, place, picture, actions }: ListProps & { row: RunFinding }) {
    const where = place(row);
    return (
        <article class={`finding ${row.gain === null ? "wrong" : ""}`} data-about={row.about} data-order={row.order}>
            <Gain row={row} basis={data.basis} />
            <div class="says">
                <h3>
                    {row.finding}{" "}
                    <span class="soft">
                        <Subject row={row} />
                    </span>
                </h3>
                <p class="where">
                    {where}
                    {row.kernelShort && row.activity === undefined && (
                        <span class="soft">
                            {where && " in "}
                            <code title={row.kernel ?? ""}>{shortName(row.kernelShort)}</code>
                        </span>
                    )}
                </p>
                <p class="evidence">
                    {row.evidence}.{" "}
                    <span class={`state ${row.state.replace(" ", "-")}`} title={row.stateText}>
                        {row.state}
                    </span>
                    {row.state !== "exact" && <span class="soft"> {row.stateText}</span>}
                </p>
                {typeof row.share === "number" && (
                    <p class="soft">
                        {percent(row.share)} of the kernel’s {row.system}
                    </p>
                )}
                <p class="remedy">Fix: {row.remedy}.</p>
                {actions?.(row)}
            </div>
            <div class="shown">
                {row.about === "time" ? <TimeCut row={row} duration={data.duration} /> : picture?.(row)}
            </div>
        </article>
    );
}

export function Missing({ data }: { data: RunFindings }) {
    return (
        <>
            {data.missing.map(({ text, command }) => (
                <div class="missing">
                    <p>{text}</p>
                    <pre>
                        <code>{command}</code>
                    </pre>
                </div>
            ))}
        </>
    );
}

export function RunFindingList(props: ListProps) {
    const [all, setAll] = useState(false);
    const { data } = props,
        large = data.rows.filter((row) => row.order !== "elsewhere" && !isSmall(row)),
        elsewhere = data.rows.filter((row) => row.order === "elsewhere" && !isSmall(row)),
        small = data.rows.filter(isSmall),
        folded = small.length + data.left;
    return (
        <>
            {!data.rows.length && !data.missing.some(({ text }) => text.includes("memory accesses")) && (
                <p class="none">Accesses and times: nothing to gain was found above 1% of {data.basis}.</p>
            )}
            {large.map((row) => (
                <Card {...props} row={row} />
            ))}
            {elsewhere.length > 0 && <h3 class="rest">Where the rest of the time goes</h3>}
            {elsewhere.map((row) => (
                <Card {...props} row={row} />
            ))}
            {all && small.map((row) => <Card {...props} row={row} />)}
            {folded > 0 && (
                <p class="folded">
                    <button aria-expanded={all} onClick={() => setAll(!all)}>
                        {all ? "Hide what is below 1%" : `${count(folded)} more below 1% of ${data.basis}`}
                    </button>
                    {all && data.left > 0 && <span class="soft"> {count(data.left)} of them are not listed.</span>}
                </p>
            )}
            {props.between}
            {data.notes.map((note) => (
                <p class="soft note">{note}</p>
            ))}
            <Missing data={data} />
        </>
    );
}
