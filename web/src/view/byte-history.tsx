// Who wrote the selected bytes of global memory, and who read them: every launch, copy and memset of the run, in order.
import { useState } from "preact/hooks";
import { count, counted, shortName } from "../format";
import { useAsk } from "./ask";
import { useModel } from "./model";
import { Failed } from "./parts";
import { placeText } from "./places";
import type { HistoryRow } from "./source";
import { NO_FILTER, type Range } from "./state";

const does = ({ reads, writes }: HistoryRow) => (reads && writes ? "reads and writes" : reads ? "reads" : "writes");

function Row({ row, range }: { row: HistoryRow; range: Range }) {
    const model = useModel();
    const kind = row.reads && row.writes ? "atomic" : row.writes ? "store" : "load";
    const what =
        row.launch !== null ? `#${row.launch} ${shortName(row.name)}` : `${row.name ?? "copy"} (copy ${row.copy})`;
    const text = (
        <>
            <i class={`dot ${kind}`} />
            {what} {does(row)}
            <span class="soft">
                {row.site !== null && `${placeText(model.run, model.sites.get(row.site))} · `}
                {row.lanes > 0 && counted(row.lanes, "lane", "lanes")}
                {row.variable && ` · ${row.variable}`}
            </span>
        </>
    );
    if (row.launch === null) return <li class="plain">{text}</li>;
    const open = () =>
        model.openLaunch(row.launch!, {
            view: "warps",
            filter: { ...NO_FILTER, sites: [row.site!], range },
            bytes: range,
        });
    return (
        <li>
            <button class={row.launch === model.launch.launch ? "on" : ""} title={row.name ?? ""} onClick={open}>
                {text}
            </button>
        </li>
    );
}

export function ByteHistory({ range }: { range: Range }) {
    const model = useModel(),
        [isOpen, setOpen] = useState(false),
        { history } = model.source;
    const answer = useAsk("run", isOpen && history ? `history|${range.first}|${range.last}` : null, (signal) =>
        model.source.history!(range.first, range.last, signal),
    );
    if (!history || range.space !== "global") return null;
    return (
        <details class="history" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>Who wrote and read them in the whole run</summary>
            {answer.error && <Failed answer={answer} />}
            {isOpen && !answer.data && !answer.error && <p class="soft working">Looking through all launches</p>}
            {isOpen && answer.data && !answer.data.total && <p class="soft">Nothing that was recorded.</p>}
            {isOpen && (
                <ul class="touches">
                    {answer.data?.rows.map((row) => (
                        <Row row={row} range={range} />
                    ))}
                </ul>
            )}
            {isOpen && answer.data && answer.data.total > answer.data.rows.length && (
                <p class="soft">{count(answer.data.total - answer.data.rows.length)} more</p>
            )}
        </details>
    );
}
