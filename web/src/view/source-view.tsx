// The source with what each line moved beside it: bytes asked for, how much of the traffic was of
// use, requests, findings. A click on a line makes it the filter.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, counted, short } from "../format";
import { messageOf, useAsk } from "./ask";
import { unitOf } from "./canvas";
import { codeOf } from "./code";
import { goToExample } from "./findings";
import { useModel } from "./model";
import { Choice, Empty, Failed, Head, Share, costTexts, efficiency, toneOf } from "./parts";
import type { FindingRow, LineRow } from "./source";
import { toggled } from "./state";

const LINE = 19;

export function SourceView() {
    const model = useModel(),
        { run, launch, state } = model;
    const own = useMemo(() => {
        const used = new Map<number, number>();
        for (const { site, accesses } of launch.sites) {
            const source = model.sites.get(site)?.source;
            if (source !== null && source !== undefined) used.set(source, (used.get(source) ?? 0) + accesses);
        }
        return used;
    }, [launch]);
    const files = run.sources.filter((s) => s.hasText || own.has(s.source));
    const main =
        [...own].sort((a, b) => b[1] - a[1])[0]?.[0] ??
        run.kernels.find((k) => k.kernel === launch.kernel)?.source ??
        files[0]?.source ??
        null;
    const file = state.source !== null && files.some((s) => s.source === state.source) ? state.source : main;
    const info = run.sources.find((s) => s.source === file) ?? null;
    const text = useAsk(file, file !== null && info?.hasText ? "text" : null, () => model.source.source(file));
    const scope = state.wholeRun ? null : launch.launch;
    const lines = useAsk(`${scope}|${file}`, file === null ? null : "lines", (signal) =>
        model.source.lines(file, scope, signal),
    );
    if (file === null || !info)
        return (
            <Empty title="This launch has no source locations.">
                {model.run.recorder === "import" ? (
                    <>
                        The imported files do not contain any. In a trace folder they come from{" "}
                        <code>KERNEL.metadata.json</code>; a .trc file has none.
                    </>
                ) : (
                    <>
                        Compile the program with <code>ctascope cc</code> or <code>-lineinfo</code>.
                    </>
                )}
            </Empty>
        );
    const rows = new Map((lines.data ?? []).map((row) => [row.line, row]));
    const total = (lines.data ?? []).reduce((sum, row) => sum + row.bytes, 0);
    return (
        <>
            <Head
                tools={
                    <>
                        <Choice
                            label="Numbers of"
                            value={state.wholeRun ? "run" : "launch"}
                            options={[
                                ["launch", "this launch"],
                                ["run", "whole run"],
                            ]}
                            onChoose={(value) => model.set({ wholeRun: value === "run" })}
                        />
                        {files.length > 1 && (
                            <select
                                aria-label="Source file"
                                value={String(file)}
                                onChange={(event) =>
                                    model.set({ source: Number(event.currentTarget.value), line: null })
                                }
                            >
                                {files.map((s) => (
                                    <option value={String(s.source)}>
                                        {s.path.split("/").pop()}
                                        {own.has(s.source) ? "" : " (not in this launch)"}
                                    </option>
                                ))}
                            </select>
                        )}
                    </>
                }
            >
                <b title={info.path}>{info.path.split("/").pop()}</b>{" "}
                <span class="soft">
                    {bytes(total)} requested by {counted(rows.size, "line", "lines")}
                    {lines.waiting ? ", counting" : ""}
                </span>
            </Head>
            {lines.error && <Failed answer={lines} />}
            {text.error && <Failed answer={text} />}
            {info.hasText ? (
                text.data === null ? (
                    <p class="soft working pad">Loading the source</p>
                ) : (
                    <Code file={file} text={text.data} rows={rows} />
                )
            ) : (
                <LinesOnly file={file} rows={rows} />
            )}
        </>
    );
}

function useLineFilter(file: number) {
    const model = useModel(),
        { filter } = model.state;
    const same = (a: { source: number; line: number }, b: { source: number; line: number }) =>
        a.source === b.source && a.line === b.line;
    return {
        on: (line: number) => filter.lines.some((l) => same(l, { source: file, line })),
        toggle: (line: number) =>
            model.set({ filter: { ...filter, lines: toggled(filter.lines, { source: file, line }, same) } }),
    };
}

function Numbers({ row, most }: { row: LineRow | undefined; most: number }) {
    if (!row)
        return (
            <>
                <span class="num" />
                <span class="num" />
                <span class="num" />
            </>
        );
    const used = efficiency(row);
    return (
        <>
            <Share value={row.bytes / most}>
                <span class="num">{bytes(row.bytes)}</span>
            </Share>
            <span class="num">{short(row.records)}</span>
            <span class={`num tone ${toneOf(used)}`}>{used === null ? "–" : `${Math.round(100 * used)}%`}</span>
        </>
    );
}

const titleOf = (row: LineRow | undefined) =>
    row ? `${costTexts(row).join("; ")}` + ". Click to filter by this line." : "";

function Code({ file, text, rows }: { file: number; text: string; rows: Map<number, LineRow> }) {
    const model = useModel(),
        { state } = model;
    const code = useMemo(() => codeOf(text), [text]);
    const place = useRef<HTMLDivElement>(null);
    const [view, setView] = useState({ top: 0, height: 600 });
    const { on, toggle } = useLineFilter(file);
    const tall = LINE * unitOf(),
        most = Math.max(1, ...[...rows.values()].map((row) => row.bytes));
    const site = model.selected ? model.sites.get(model.selected.site) : undefined;
    const selectedLine = site?.source === file ? site.line : null;
    const first = Math.min(...rows.keys());
    useEffect(() => {
        const observer = new ResizeObserver(
            () => place.current && setView((old) => ({ ...old, height: place.current!.clientHeight })),
        );
        observer.observe(place.current!);
        return () => observer.disconnect();
    }, []);
    const wanted = state.line ?? selectedLine ?? (Number.isFinite(first) ? first : null);
    useEffect(() => {
        if (wanted !== null && place.current)
            place.current.scrollTop = Math.max(0, (wanted - 1) * tall - place.current.clientHeight / 3);
    }, [file, wanted, rows.size > 0]);
    const from = Math.max(0, Math.floor(view.top / tall) - 10),
        to = Math.min(code.length, Math.ceil((view.top + view.height) / tall) + 10);
    const noted = [...rows.values()].some((row) => row.findings.length > 0);
    return (
        <div
            class={`code ${noted ? "noted" : ""}`}
            ref={place}
            onScroll={(event) =>
                setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
            }
        >
            <div class="codehead">
                <span class="num">bytes</span>
                <span class="num">requests</span>
                <span class="num">used</span>
                {noted && <span>finding</span>}
                <span class="num">line</span>
                <span />
            </div>
            <div style={{ height: `${code.length * tall}px`, position: "relative" }}>
                {code.slice(from, to).map((parts, i) => {
                    const line = from + i + 1,
                        row = rows.get(line),
                        findings = (row?.findings ?? []).flatMap((f) => model.findings?.[f] ?? []);
                    return (
                        <div
                            key={line}
                            class={
                                `codeline ${row ? "hot" : ""} ${on(line) ? "on" : ""} ` +
                                `${line === selectedLine || line === state.line ? "here" : ""}`
                            }
                            style={{ top: `${(line - 1) * tall}px` }}
                            data-line={line}
                            title={titleOf(row)}
                            onClick={() => row && toggle(line)}
                        >
                            <Numbers row={row} most={most} />
                            {noted && <Pills findings={findings} />}
                            {row ? (
                                <button
                                    class="num lineno"
                                    aria-pressed={on(line)}
                                    aria-label={`Filter by line ${line}`}
                                    onClick={(event) => {
                                        event.stopPropagation();
                                        toggle(line);
                                    }}
                                >
                                    {line}
                                </button>
                            ) : (
                                <span class="num lineno">{line}</span>
                            )}
                            <code>{parts.map(([kind, part]) => (kind ? <span class={kind}>{part}</span> : part))}</code>
                        </div>
                    );
                })}
            </div>
        </div>
    );
}

// The line's finding that weighs most, and how many more there are.
function Pills({ findings }: { findings: FindingRow[] }) {
    const model = useModel(),
        [first] = findings;
    const told = (f: FindingRow) =>
        `${f.finding}${f.share === null ? "" : `, saves up to ${Math.round(100 * f.share)}%`}: ` +
        `${f.evidence}\n${f.remedy}`;
    if (!first) return <span class="pills" />;
    const others = findings
        .slice(1)
        .filter((f, i, all) => f.finding !== first.finding && all.findIndex((g) => g.finding === f.finding) === i);
    return (
        <span class="pills">
            <button
                class="pill"
                title={`${told(first)}\nClick for an example.`}
                onClick={(event) => {
                    event.stopPropagation();
                    goToExample(model, first).catch((error) => model.say(messageOf(error)));
                }}
            >
                {first.finding}
            </button>
            {others.length > 0 && (
                <button
                    class="pill more"
                    title={others.map(told).join("\n")}
                    aria-label={counted(others.length, "more finding", "more findings")}
                    onClick={(event) => {
                        event.stopPropagation();
                        model.set({ view: "findings" });
                    }}
                >
                    +{others.length}
                </button>
            )}
        </span>
    );
}

// Where the text is not in the run: the lines that moved something.
function LinesOnly({ file, rows }: { file: number; rows: Map<number, LineRow> }) {
    const { on, toggle } = useLineFilter(file),
        most = Math.max(1, ...[...rows.values()].map((row) => row.bytes));
    return (
        <div class="code">
            <p class="soft pad">The run does not contain the text of this file.</p>
            <div class="codehead">
                <span class="num">bytes</span>
                <span class="num">requests</span>
                <span class="num">used</span>
                <span class="num">line</span>
                <span />
            </div>
            {[...rows.values()]
                .sort((a, b) => a.line - b.line)
                .map((row) => (
                    <div
                        class={`codeline flow hot ${on(row.line) ? "on" : ""}`}
                        title={titleOf(row)}
                        onClick={() => toggle(row.line)}
                    >
                        <Numbers row={row} most={most} />
                        <button class="num lineno" aria-pressed={on(row.line)}>
                            {row.line}
                        </button>
                        <code />
                    </div>
                ))}
        </div>
    );
}
