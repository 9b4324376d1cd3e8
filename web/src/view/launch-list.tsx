// The menu of launches: their kernels, durations and accesses, searched and sorted by the server.
import { useEffect, useRef, useState } from "preact/hooks";
import { counted, shortName, time } from "../format";
import { useAsk } from "./ask";
import { useModel } from "./model";
import { Choice, Empty } from "./parts";
import { ctasText, extentText, kernelName } from "./places";
import type { LaunchRow, LaunchSort } from "./source";

const ROWS = 100,
    ROWS_MOST = 1000; // more than that are for the search
const SORTS: [LaunchSort, string][] = [
    ["launch", "in order"],
    ["time", "longest"],
    ["accesses", "most accesses"],
];

function Row({ row, several, close }: { row: LaunchRow; several: boolean; close: () => void }) {
    const model = useModel(),
        isOpen = row.launch === model.launch.launch,
        name = kernelName(model.run, row.kernel);
    return (
        <button
            role="option"
            aria-selected={isOpen}
            class={isOpen ? "on" : ""}
            onClick={() => {
                model.openLaunch(row.launch);
                close();
            }}
            title={name}
        >
            <span class="num">{row.launch}</span>
            <code>{shortName(name)}</code>
            <span class="soft">
                {several && `rank ${row.rank} · `}
                {ctasText(row.grid)} of {extentText(row.block)}
            </span>
            <span class="num duration">{row.end > row.start ? time(row.end - row.start) : "–"}</span>
            <span class="num soft">
                {row.recorded === "none"
                    ? "not recorded"
                    : `${counted(row.accesses, "access", "accesses")}${row.recorded === "sample" ? ", sampled" : ""}`}
            </span>
        </button>
    );
}

function More({ left, full, onMore }: { left: number; full: boolean; onMore: () => void }) {
    if (left <= 0) return null;
    if (full)
        return (
            <p class="soft more">
                {counted(left, "more launch", "more launches")}: search for a kernel or a number, or click in the
                timeline.
            </p>
        );
    return (
        <button class="more" onClick={onMore}>
            {counted(left, "more launch", "more launches")}
        </button>
    );
}

export function LaunchList({ close }: { close: () => void }) {
    const model = useModel();
    const [text, setText] = useState(""),
        [sort, setSort] = useState<LaunchSort>("launch"),
        [pages, setPages] = useState(1);
    const field = useRef<HTMLInputElement>(null);
    useEffect(() => field.current?.focus(), []);
    const found = useAsk("launches", `${text}|${sort}|${pages}`, (signal) =>
        model.source.launches(text, 0, Math.min(ROWS_MOST, ROWS * pages), signal, sort),
    );
    const rows = found.data?.rows ?? [],
        several = new Set(model.run.devices.map((device) => device.rank)).size > 1;
    return (
        <div class="popup launches">
            <div class="asked">
                <input
                    type="search"
                    placeholder="Kernel or launch number"
                    aria-label="Search launches"
                    value={text}
                    ref={field}
                    onInput={(event) => {
                        setText(event.currentTarget.value);
                        setPages(1);
                    }}
                />
                <Choice label="Sort launches" value={sort} options={SORTS} onChoose={setSort} />
            </div>
            <div class="list" role="listbox" aria-label="Launches">
                {rows.map((row) => (
                    <Row row={row} several={several} close={close} />
                ))}
                {found.data && !rows.length && (
                    <Empty title={`No launch matches '${text}'.`}>
                        <button onClick={() => setText("")}>Show all</button>
                    </Empty>
                )}
                {found.error && <Empty title={found.error} />}
            </div>
            {found.data && (
                <More
                    left={found.data.total - rows.length}
                    full={rows.length >= ROWS_MOST}
                    onMore={() => setPages(pages + 4)}
                />
            )}
        </div>
    );
}
