// What passes between launches, copies and the host: what the analysis says, the graph, what is chosen in it, and the
// matrix of all launches. The report and the page of `view` show it alike; `view` adds ways into its other views.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FlowGraph, type Chosen, type Marked } from "./flow-graph";
import {
    LINK_KINDS,
    bytesOf,
    drawnAs,
    fileLine,
    isPossible,
    partName,
    sumsText,
    timesText,
    whatOf,
    type FlowData,
    type FlowFinding,
    type Link,
    type LinkKind,
    type Part,
    type Sums,
} from "./flow-data";
import { bytes, count, counted, fitted, shortName } from "./format";
import { Heatmap } from "./heatmap";
import { Table, Warnings } from "./table";

// A finding to show in the graph, by its index; another object shows it again.
export type Wanted = { index: number } | null;

export interface FlowProps {
    data: FlowData;
    finding?: Wanted;
    // More about a part of a link, and a link to a place in the source: where there are other views.
    more?: (part: Part) => ComponentChildren;
    place?: (path: string, line: number, text: string) => ComponentChildren;
}

// ---- findings ----

const subject = (node: string | null, name: string | null) =>
    node && (
        <>
            {node}
            {name && (
                <>
                    {" ("}
                    <code title={name}>{shortName(name)}</code>)
                </>
            )}
        </>
    );

// The two that a finding is about, and how they stand to each other.
function Pair({ f }: { f: FlowFinding }) {
    const box = (y: number, node: string, name: string | null) => (
        <>
            <rect x="1" y={y} width="148" height="22" rx="3" />
            <text x="75" y={y + 15}>
                {name ? `${fitted(shortName(name), 23 - node.length)}, ${node}` : node}
            </text>
        </>
    );
    if (!f.node) return null;
    const kind = isRace(f) ? "race" : /order|wait/.test(f.finding) ? "reuse" : "true";
    const says = f.other ? `${f.node} and ${f.other}: ${f.finding}` : `${f.node}: ${f.finding}`;
    return (
        <svg class="flow-pair" viewBox={`0 0 150 ${f.other ? 64 : 24}`} role="img" aria-label={says}>
            {box(1, f.node, f.name)}
            {f.other && (
                <>
                    <path class={`link-line ${kind}`} d="M75,24V36" stroke-width="3" />
                    <path class={`head ${kind}`} d="M69,34H81L75,41z" />
                    {box(41, f.other, f.other_name)}
                </>
            )}
        </svg>
    );
}

export function FlowFindingCard({ f, about, onShow }: { f: FlowFinding; about?: string; onShow?: () => void }) {
    return (
        <article class={`finding ${isRace(f) ? "wrong" : ""}`} data-about="flow">
            <div class="ceiling">
                {isRace(f) ? (
                    <>
                        <b>!</b>
                        <small>results may be wrong</small>
                    </>
                ) : (
                    <>
                        <b>{bytes(f.bytes)}</b>
                        <small>{/order|wait/.test(f.finding) ? "concerned" : "at most"}</small>
                    </>
                )}
            </div>
            <div class="says">
                <h3>
                    {f.finding}{" "}
                    <span class="soft">
                        {f.variable && (
                            <>
                                of <code>{f.variable}</code>
                            </>
                        )}
                    </span>
                </h3>
                <p class="where">
                    {subject(f.node, f.name)}
                    {f.other && <> and {subject(f.other, f.other_name)}</>}
                    {f.allocated_at && <span class="soft"> · allocated at {f.allocated_at}</span>}
                    {about && <span class="soft"> · {about}</span>}
                </p>
                <p class="evidence">
                    {bytes(f.bytes)}
                    {isRace(f) && f.times > 1 ? `, ${count(f.times)} pairs` : timesText(f.times)}.{" "}
                    <span class={`state ${f.certain ? "exact" : "possible"}`}>
                        {f.certain ? "certain" : "possible"}
                    </span>
                    {f.reason && <span class="soft"> {f.reason}</span>}
                </p>
                <p class="remedy">
                    Fix: {f.advice}. <span class="soft">Legal {f.legal}.</span>
                </p>
                {f.trial && (
                    <p class="soft">
                        Try: <code>ctascope try --run RUN {f.trial} -- PROGRAM</code>
                    </p>
                )}
                {onShow && (
                    <p class="links">
                        <button class="link" onClick={onShow}>
                            Show in the graph
                        </button>
                    </p>
                )}
            </div>
            <div class="shown">
                <Pair f={f} />
            </div>
        </article>
    );
}

const isRace = (f: FlowFinding) => f.finding.endsWith("race");

// Of a copy: the data that it reads and who wrote them, and the data that it writes and who reads them.
function aboutCopy(data: FlowData, i: number): string {
    const place = data.finding_places[i]?.[0] ?? -1;
    if (place < 0 || !data.places[place] || data.places[place].kind !== "copy" || data.findings[i].other) return "";
    const end = (own: "from" | "to", other: "from" | "to", verb: string, by: string) => {
        const link = data.links.find((one) => one[own] === place && one.raw_bytes > 0),
            part = link?.parts.find(({ raw_bytes }) => raw_bytes > 0);
        return link && part && `${verb} ${partName(part)} (${by} ${whatOf(data.places[link[other]])})`;
    };
    return [end("to", "from", "reads", "from"), end("from", "to", "writes", "for")].filter(Boolean).join(", ");
}

// What is listed: races, then what is certain, then what is only possible; else as the analysis sorts them.
const rankOf = (f: FlowFinding) => (isRace(f) ? 0 : f.certain ? 1 : 2);
const inOrder = ({ findings }: FlowData) =>
    findings.map((_, i) => i).sort((a, b) => rankOf(findings[a]) - rankOf(findings[b]) || a - b);

interface FlowFindingsProps {
    data: FlowData;
    races: boolean;
    onOpen: (shown: FlowFinding | null) => void; // null: only the list
}
// In the list of a run's findings: races stand above the others, which may be made fast later; the rest below them.
export function FlowFindings({ data, races, onOpen }: FlowFindingsProps) {
    const all = inOrder(data)
            .map((i) => data.findings[i])
            .filter((f) => isRace(f) === races),
        more = all.length - FINDINGS_SHOWN;
    if (!all.length) return null;
    return (
        <>
            {!races && <h3 class="rest">Between launches, copies and the host</h3>}
            {all.slice(0, FINDINGS_SHOWN).map((f) => (
                <FlowFindingCard
                    f={f}
                    about={aboutCopy(data, data.findings.indexOf(f))}
                    onShow={chosenBy(data, data.findings.indexOf(f)) ? () => onOpen(f) : undefined}
                />
            ))}
            {more > 0 && (
                <p class="folded">
                    <button onClick={() => onOpen(null)}>{count(more)} more in Flow</button>
                </p>
            )}
        </>
    );
}

// What shows a finding in the graph: the link between its two places, the two, or the one that there is. Two launches
// of one place (in two iterations) are linked to themselves.
function chosenBy({ finding_places, places, links }: FlowData, i: number): Chosen {
    const [a, b] = finding_places[i].map((place) => (place < places.length ? place : -1));
    if (a < 0 || b < 0) return a < 0 && b < 0 ? null : { place: Math.max(a, b) };
    const joins = ({ from, to }: Link) => from === a && to === b,
        link = links.findIndex((one) => joins(one) && !one.carried);
    if (link >= 0) return { link };
    const carried = links.findIndex(joins);
    return carried >= 0 ? { link: carried } : a === b ? { place: a } : { pair: [a, b] };
}

const FINDINGS_SHOWN = 5;
function Findings({ data, onChoose }: { data: FlowData; onChoose: (chosen: Chosen) => void }) {
    const [all, setAll] = useState(false),
        order = useMemo(() => inOrder(data), [data]),
        shown = all ? order : order.slice(0, FINDINGS_SHOWN),
        more = data.findings.length - FINDINGS_SHOWN;
    const show = (i: number) => {
        const chosen = chosenBy(data, i);
        return chosen ? () => onChoose(chosen) : undefined;
    };
    if (!data.findings.length) return <p>No findings between launches, copies and the host.</p>;
    return (
        <>
            <div class="flow-findings">
                {shown.map((i) => (
                    <FlowFindingCard f={data.findings[i]} about={aboutCopy(data, i)} onShow={show(i)} />
                ))}
            </div>
            {more > 0 && (
                <p class="folded">
                    <button aria-expanded={all} onClick={() => setAll(!all)}>
                        {all ? "Show fewer" : `${count(more)} more`}
                    </button>
                </p>
            )}
            {data.findings_left_out > 0 && (
                <p class="soft">{counted(data.findings_left_out, "finding is", "findings are")} not listed.</p>
            )}
        </>
    );
}

// ---- what is chosen ----

const nameOf = (data: FlowData, place: number) => (
    <>
        {data.places[place].node} <code title={data.places[place].name ?? ""}>{whatOf(data.places[place])}</code>
    </>
);

const COUNTS: [keyof Sums, string][] = [
    ["raw_bytes", "read after write"],
    ["possible_raw_bytes", "only possible"],
    ["war_bytes", "overwritten after read"],
    ["waw_bytes", "written again"],
    ["commuting_bytes", "atomics of both"],
    ["race_bytes", "race"],
];

function Parts({ link, more, place }: FlowProps & { link: Link }) {
    const counts = COUNTS.filter(([key]) => link[key] > 0);
    return (
        <>
            <Table
                columns={[
                    { title: "data", text: true },
                    { title: "allocated at", text: true },
                    ...counts.map(([, title]) => ({ title })),
                    { title: "first of them", text: true },
                    { title: "addresses", text: true },
                ]}
                rows={link.parts.map((part) => {
                    const file = fileLine(part.path, part.line);
                    return [
                        <code>{partName(part)}</code>,
                        file && place && part.line !== null ? place(part.path!, part.line, file) : (file ?? "-"),
                        ...counts.map(([key]) => bytes(part[key])),
                        `${part.from} → ${part.to}`,
                        <code>{`${part.first}–${part.end}`}</code>,
                    ];
                })}
                left={link.parts_left_out}
            />
            {more && link.parts.map((part) => more(part))}
        </>
    );
}

function ChosenLink({ link, ...props }: FlowProps & { link: Link }) {
    const { data } = props;
    return (
        <div class="flow-chosen" aria-live="polite">
            <h3>
                {nameOf(data, link.from)} → {nameOf(data, link.to)}
                {link.carried && <span class="soft"> of a later iteration</span>}
            </h3>
            <p>
                {sumsText(link)}
                {timesText(link.edges)}.{isPossible(link) && " Only possible: stores between them may not be recorded."}
            </p>
            <Parts {...props} link={link} />
        </div>
    );
}

function ChosenPair({ data, pair: [a, b] }: { data: FlowData; pair: [number, number] }) {
    return (
        <div class="flow-chosen" aria-live="polite">
            <h3>
                {nameOf(data, a)} and {nameOf(data, b)}
            </h3>
            <p>No data passes between the two. Click one of them for what it depends on.</p>
        </div>
    );
}

function ChosenPlace({ data, at: place, onChoose }: FlowProps & { at: number; onChoose: (chosen: Chosen) => void }) {
    const it = data.places[place],
        links = data.links.map((link, index) => ({ link, index }));
    const list = (title: string, side: "from" | "to") => {
        const own = links.filter(({ link }) => link[side === "from" ? "to" : "from"] === place);
        if (!own.length) return null;
        return (
            <>
                <h4>{title}</h4>
                <ul>
                    {own.slice(0, 12).map(({ link, index }) => (
                        <li>
                            <button class="link" onClick={() => onChoose({ link: index })}>
                                {data.places[link[side]].node} {whatOf(data.places[link[side]])}
                            </button>
                            <span class="soft">
                                {link.carried && " (another iteration)"}: {sumsText(link)}
                            </span>
                        </li>
                    ))}
                </ul>
                {own.length > 12 && <p class="soft">{counted(own.length - 12, "more is", "more are")} not listed.</p>}
            </>
        );
    };
    return (
        <div class="flow-chosen" aria-live="polite">
            <h3>
                {nameOf(data, place)}
                <span class="soft">{timesText(it.times)}</span>
            </h3>
            <p>
                Reads {bytes(it.read_bytes)}, writes {bytes(it.written_bytes)}.{" "}
                {it.dead_bytes > 0 && <b>Nothing reads {bytes(it.dead_bytes)} of what it writes.</b>}
            </p>
            {list("Depends on", "from")}
            {list("Needed by", "to")}
        </div>
    );
}

// ---- the matrix ----

function Matrix({ data }: { data: FlowData }) {
    const { bins, bin_size, cells, labels, works } = data.matrix;
    const list = useMemo(
        () =>
            Array.from({ length: cells.length / 3 }, (_, i) => ({
                y: cells[3 * i],
                x: cells[3 * i + 1],
                value: cells[3 * i + 2],
            })),
        [data],
    );
    if (!list.length) return null;
    return (
        <>
            <h3>All {counted(works, "launch, copy or memset", "launches, copies and memsets")} in call order</h3>
            <p class="soft">
                Bytes that one writes and a later one reads
                {bin_size > 1 ? `; each cell sums ${count(bin_size)} by ${count(bin_size)} of them` : ""}.
            </p>
            <Heatmap
                columns={bins}
                rows={bins}
                cells={list}
                xLabel="writer"
                yLabel="reader"
                binText={(bin) => labels[bin] ?? ""}
                valueText={bytes}
            />
        </>
    );
}

// ---- the whole ----

interface OptionsProps {
    data: FlowData;
    kinds: LinkKind[];
    onKinds: (kinds: LinkKind[]) => void;
    marked: Marked;
    onMarked: (marked: Marked) => void;
}
function Options({ data, kinds, onKinds, marked, onMarked }: OptionsProps) {
    const has = (kind: LinkKind) => data.links.some((link) => bytesOf(link, kind) > 0);
    return (
        <div class="flow-options">
            {LINK_KINDS.filter(([kind]) => has(kind)).map(([kind, name, title]) => (
                <label title={title}>
                    <input
                        type="checkbox"
                        checked={kinds.includes(kind)}
                        onChange={() =>
                            onKinds(kinds.includes(kind) ? kinds.filter((k) => k !== kind) : [...kinds, kind])
                        }
                    />
                    <i class={`flow-key ${kind}`} /> {name}
                </label>
            ))}
            {data.chains_judged && (
                <label>
                    outline{" "}
                    <select
                        aria-label="Which chain is outlined"
                        value={marked}
                        onChange={(event) => onMarked(event.currentTarget.value as Marked)}
                    >
                        <option value="true">{`chain of data (${count(data.longest_raw_chain)})`}</option>
                        <option value="enforced">{`chain of the program (${count(data.longest_chain)})`}</option>
                        <option value="none">nothing</option>
                    </select>
                </label>
            )}
        </div>
    );
}

export function FlowSection(props: FlowProps) {
    const { data } = props;
    const [kinds, setKinds] = useState<LinkKind[]>(["true", "race"]),
        [marked, setMarked] = useState<Marked>("true"),
        [chosen, setChosen] = useState<Chosen>(null);
    const graph = useRef<HTMLDivElement>(null);
    // What a finding is about is seen, also where its kind of line was switched off.
    const show = (wanted: Chosen) => {
        setChosen(wanted);
        if (wanted && "link" in wanted && !drawnAs(data.links[wanted.link], kinds))
            setKinds([...kinds, drawnAs(data.links[wanted.link], ["true", "reuse", "race"])!]);
        graph.current!.scrollIntoView({ block: "nearest" });
    };
    useEffect(() => {
        const index = props.finding?.index;
        if (index !== undefined && index < data.findings.length) show(chosenBy(data, index));
    }, [props.finding]);
    const left = data.places_left_out + data.links_left_out;
    return (
        <>
            {data.summary.map((text) => (
                <p class="sentence">{text}</p>
            ))}
            <div ref={graph}>
                <Options data={data} kinds={kinds} onKinds={setKinds} marked={marked} onMarked={setMarked} />
                <FlowGraph data={data} kinds={kinds} marked={marked} chosen={chosen} onChoose={setChosen} />
            </div>
            <p class="soft">
                Left to right: call order. A bracket folds repeated iterations. A line is thicker for more bytes, and
                dashed if the dependence is only possible. Click a box or a line for its data.
                {left > 0 &&
                    ` Not drawn: ${counted(data.places_left_out, "launch or copy", "launches and copies")} and ` +
                        `${counted(data.links_left_out, "line", "lines")}.`}
            </p>
            {chosen && "link" in chosen && <ChosenLink {...props} link={data.links[chosen.link]} />}
            {chosen && "pair" in chosen && <ChosenPair data={data} pair={chosen.pair} />}
            {chosen && "place" in chosen && <ChosenPlace {...props} at={chosen.place} onChoose={setChosen} />}
            <Findings data={data} onChoose={show} />
            <Matrix data={data} />
            <Warnings texts={data.notes} />
        </>
    );
}
