// This run beside another: findings that are gone, new or changed, and the kernels' totals.
import { useState } from "preact/hooks";
import { count, shortName } from "../format";
import { useAsk } from "./ask";
import { useModel } from "./model";
import { Choice, Empty, Failed, Head } from "./parts";
import type { Diff, DiffRow } from "./source";

const TONES: Record<DiffRow["change"], string> = { new: "poor", gone: "good", changed: "fair", same: "" };
const plain = (field: string) => field.replace(/_/g, " ");

export function DiffView() {
    const model = useModel();
    const [which, setWhich] = useState<DiffRow["change"] | "all">("all"),
        [text, setText] = useState("");
    const answer = useAsk("run", model.run.otherRun ? "diff" : null, () => model.source.diff());
    if (!model.run.otherRun)
        return (
            <Empty title="Only one run is open.">
                To compare two: <code>ctascope view RUN OTHER</code>
            </Empty>
        );
    const all = answer.data?.rows ?? [],
        wanted = text.trim().toLowerCase();
    const rows = all.filter(
        (r) =>
            (which === "all" ? r.change !== "same" || !!wanted : r.change === which) &&
            (!wanted || [r.finding, r.place, r.variable, r.kernel].some((t) => t?.toLowerCase().includes(wanted))),
    );
    const many = (change: DiffRow["change"]) => all.filter((r) => r.change === change).length;
    const tools = (
        <>
            <Choice
                label="Which findings"
                value={which}
                onChoose={setWhich}
                options={[
                    ["all", "differences"],
                    ["new", `new ${many("new")}`],
                    ["gone", `gone ${many("gone")}`],
                    ["changed", `changed ${many("changed")}`],
                    ["same", `same ${many("same")}`],
                ]}
            />
            <input
                type="search"
                placeholder="Find"
                aria-label="Find a difference"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
            />
        </>
    );
    return (
        <>
            <Head tools={tools}>
                <b>Compared with</b>{" "}
                <code title={model.run.otherRun}>{model.run.otherRun.split("/").filter(Boolean).pop()}</code>
            </Head>
            <div class="scrolled diff">
                {answer.error && <Failed answer={answer} />}
                {!answer.data && !answer.error && <p class="soft working pad">Comparing the runs</p>}
                {answer.data && !rows.length && (
                    <Empty
                        title={which === "all" && !wanted ? "Both runs have the same findings." : "No such findings."}
                    />
                )}
                {rows.length > 0 && <FindingTable rows={rows} />}
                {!!answer.data?.kernels.length && <KernelTable kernels={answer.data.kernels} />}
            </div>
        </>
    );
}

function FindingTable({ rows }: { rows: DiffRow[] }) {
    return (
        <table>
            <thead>
                <tr>
                    <th class="text" />
                    <th class="text">finding</th>
                    <th class="text">where</th>
                    <th class="text">before</th>
                    <th class="text">now</th>
                </tr>
            </thead>
            <tbody>
                {rows.map((r) => (
                    <tr>
                        <td class="text">
                            <span class={`tone ${TONES[r.change]}`}>{r.change}</span>
                        </td>
                        <td class="text">
                            <b>{r.finding}</b>
                        </td>
                        <td class="text">
                            <Place row={r} />
                            <br />
                            <span class="soft">{shortName(r.kernel)}</span>
                        </td>
                        <td class="text">
                            <Told evidence={r.before} amount={r.amountBefore} />
                        </td>
                        <td class="text">
                            <Told evidence={r.after} amount={r.amountAfter} />
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

// The line, which leads to its source if this run has it, and the variable.
function Place({ row: { source, line, place, variable } }: { row: DiffRow }) {
    const model = useModel();
    return (
        <>
            {source !== null && line !== null ? (
                <button class="link" onClick={() => model.set({ view: "source", source, line })}>
                    {place}
                </button>
            ) : (
                (place ?? "?")
            )}
            {variable && (
                <>
                    {" "}
                    <code>{variable}</code>
                </>
            )}
        </>
    );
}

// What is found in one of the runs, and how much there is of it: that may be all that has changed.
function Told({ evidence, amount }: { evidence: string | null; amount: number | null }) {
    if (!evidence) return <>–</>;
    return (
        <span class="wrap">
            {evidence}
            {amount !== null && <span class="soft"> · {count(Math.round(amount))} beyond the ideal</span>}
        </span>
    );
}

const SHOWN = ["cost", "sectors", "wavefronts", "launches"];
const changeText = (old: number | null, now: number | null) => {
    if (!old || now === null) return "–";
    const change = now / old - 1;
    return change ? `${change > 0 ? "+" : "−"}${Math.abs(100 * change).toFixed(1)}%` : "none";
};

function KernelTable({ kernels }: { kernels: Diff["kernels"] }) {
    return (
        <>
            <h3>Kernels</h3>
            <table class="kernels">
                <thead>
                    <tr>
                        <th class="text">kernel</th>
                        {SHOWN.map((field) => (
                            <th colSpan={2}>{plain(field)}</th>
                        ))}
                        <th>change</th>
                    </tr>
                </thead>
                <tbody>
                    {kernels.map((kernel) => (
                        <KernelRows key={kernel.kernel} kernel={kernel} />
                    ))}
                </tbody>
            </table>
        </>
    );
}

// A kernel's main totals, before and now, in a row; all that differ below it, when it is opened.
function KernelRows({ kernel: { kernel, before, after } }: { kernel: Diff["kernels"][number] }) {
    const [open, setOpen] = useState(false),
        both = before && after;
    const differing = both ? Object.keys(after).filter((field) => before[field] !== after[field]) : [];
    const of = (side: typeof before, field: string) => side?.[field] ?? null,
        number = (value: number | null) => (value === null ? "–" : count(Math.round(value)));
    return (
        <>
            <tr>
                <td class="text">
                    {differing.length ? (
                        <button class="link" aria-expanded={open} title={kernel} onClick={() => setOpen(!open)}>
                            {open ? "▾" : "▸"} {shortName(kernel)}
                        </button>
                    ) : (
                        <code title={kernel}>{shortName(kernel)}</code>
                    )}
                    <span class="soft">
                        {!both
                            ? after
                                ? " only in this run"
                                : " only in the other run"
                            : !differing.length && " same in both runs"}
                    </span>
                </td>
                {SHOWN.map((field) => (
                    <>
                        <td>{number(of(before, field))}</td>
                        <td class="now">
                            {of(before, field) === of(after, field) ? "=" : `→ ${number(of(after, field))}`}
                        </td>
                    </>
                ))}
                <td>{changeText(of(before, "cost"), of(after, "cost"))}</td>
            </tr>
            {open &&
                differing.map((field) => (
                    <tr class="more">
                        <td class="text soft">{plain(field)}</td>
                        <td>{number(of(before, field))}</td>
                        <td class="now">→ {number(of(after, field))}</td>
                        <td colSpan={2 * SHOWN.length - 2} />
                        <td>{changeText(of(before, field), of(after, field))}</td>
                    </tr>
                ))}
        </>
    );
}
