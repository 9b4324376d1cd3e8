// What passes between launches, copies and the host, with ways from a dependence to the launches, lines and bytes.
import { useMemo, useState } from "preact/hooks";
import { FlowSection } from "../flow";
import { partName, type Part } from "../flow-data";
import { bytes, counted } from "../format";
import { useAsk } from "./ask";
import { useModel } from "./model";
import { Empty, Failed, Head } from "./parts";
import type { Filter, OperationKind } from "./source";
import { NO_FILTER } from "./state";

interface SideProps {
    part: Part;
    launch: number;
    name: string;
    kinds: OperationKind[];
    does: string;
}

const LINES = 6;

// The lines of one launch that access the bytes of a dependence, and ways to see them.
function Side({ part, launch, name, kinds, does }: SideProps) {
    const model = useModel();
    const range = { space: "global" as const, first: Number(part.first), last: Number(part.end) - 1 },
        filter: Filter = { ...NO_FILTER, kinds, range };
    const answer = useAsk(launch, `flow|${launch}|${JSON.stringify(filter)}`, (signal) =>
        model.source.groups(launch, filter, "line", LINES, signal),
    );
    const open = (change: Partial<Filter>, view: "source" | "addresses") =>
        model.openLaunch(launch, { view, second: "warps", filter: { ...filter, ...change }, bytes: range });
    const lineOf = (key: string) => {
        const [source, line] = key.split(":").map(Number);
        return { lines: [{ source, line }] };
    };
    return (
        <li>
            {name} {does}: {answer.error && <span class="soft">{answer.error}</span>}
            {answer.data && !answer.data.total && <span class="soft">no recorded access</span>}
            {answer.data?.rows.map((group, i) => (
                <>
                    {i > 0 && ", "}
                    {group.key.includes(":") ? (
                        <button class="link" onClick={() => open(lineOf(group.key), "source")}>
                            {group.label}
                        </button>
                    ) : (
                        group.label || "no line"
                    )}{" "}
                    <span class="soft">{bytes(group.bytes)}</span>
                </>
            ))}
            {answer.data && answer.data.total > LINES && (
                <span class="soft">, {counted(answer.data.total - LINES, "more line", "more lines")}</span>
            )}{" "}
            <button class="link" onClick={() => open({}, "addresses")}>
                Show these bytes
            </button>
        </li>
    );
}

// Asked for when it is opened: a link may have many parts.
function Lines({ part }: { part: Part }) {
    const [isOpen, setOpen] = useState(false);
    if (part.from_launch === null && part.to_launch === null) return null;
    return (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>
                Lines that access these bytes of <code>{partName(part)}</code>
            </summary>
            {isOpen && (
                <ul>
                    {part.from_launch !== null && (
                        <Side
                            part={part}
                            launch={part.from_launch}
                            name={part.from}
                            kinds={part.raw_bytes || part.waw_bytes ? ["store", "atomic"] : []}
                            does={part.raw_bytes || part.waw_bytes ? "writes" : "accesses"}
                        />
                    )}
                    {part.to_launch !== null && (
                        <Side
                            part={part}
                            launch={part.to_launch}
                            name={part.to}
                            kinds={part.raw_bytes ? ["load", "atomic"] : []}
                            does={part.raw_bytes ? "reads" : "accesses"}
                        />
                    )}
                </ul>
            )}
        </details>
    );
}

function Place({ path, line, text }: { path: string; line: number; text: string }) {
    const model = useModel(),
        source = model.run.sources.find((one) => one.path === path && one.hasText);
    if (!source) return <>{text}</>;
    return (
        <button class="link" onClick={() => model.set({ view: "source", source: source.source, line })}>
            {text}
        </button>
    );
}

export function FlowView() {
    const model = useModel(),
        { flow } = model.source;
    const { finding } = model.state,
        wanted = useMemo(() => (finding === null ? null : { index: finding }), [finding]);
    const answer = useAsk("run", flow ? "flow" : null, (signal) => model.source.flow!(signal));
    if (!flow)
        return (
            <Empty title="This page contains only one launch.">
                <code>ctascope report RUN</code> writes a page with what passes between all launches.
            </Empty>
        );
    return (
        <>
            <Head>
                <b>Flow</b> <span class="soft">whole run: what passes between launches, copies and the host</span>
            </Head>
            <div class="flow communication scrolled">
                {answer.error && <Failed answer={answer} />}
                {answer.data ? (
                    <FlowSection
                        data={answer.data}
                        finding={wanted}
                        more={(part) => <Lines part={part} />}
                        place={(path, line, text) => <Place path={path} line={line} text={text} />}
                    />
                ) : (
                    !answer.error && (
                        <p class="soft working pad">Looking at what each launch and copy reads and writes</p>
                    )
                )}
            </div>
        </>
    );
}
