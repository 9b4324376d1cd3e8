// Bytes that more than one warp touched, with who did what to them, whatever orders them.
import { useState } from "preact/hooks";
import { bytes, count, counted } from "../format";
import { useAsk } from "./ask";
import { kindOf, useModel } from "./model";
import { Choice, Empty, Failed, Head, NothingLeft, plural, Unrecorded } from "./parts";
import { addressText, placeText, pointText } from "./places";
import type { Conflict, Space } from "./source";
import { hex, isFiltered } from "./state";

const SHOWN = 200;
type Which = "all" | "written";

// Whether any of them race, the findings say: they know the barriers.
const verdictOf = (c: Conflict): [string, string] =>
    !c.writers
        ? ["good", "only read"]
        : c.atomic
          ? ["fair", "atomics"]
          : c.writers === 1
            ? ["fair", "written by one, read by others"]
            : ["fair", "written by several"];

export function ConflictsView() {
    const model = useModel(),
        { launch, state } = model,
        spaces = launch.spaces.map((s) => s.space);
    const wanted =
        state.filter.space ?? model.selected?.space ?? (spaces.includes("global") ? "global" : (spaces[0] ?? "global"));
    const [picked, setPicked] = useState<Space | null>(null),
        [which, setWhich] = useState<Which>("all");
    const space = picked && spaces.includes(picked) ? picked : wanted;
    const answer = useAsk(
        launch.launch,
        spaces.length ? `conflicts|${space}|${JSON.stringify(state.filter)}` : null,
        (signal) => model.source.conflicts(launch.launch, state.filter, space, SHOWN, signal),
    );
    if (!launch.spaces.length) return <Unrecorded />;
    const all = answer.data?.rows ?? [],
        rows = all.filter((c) => which === "all" || c.writers > 0);
    const tools = (
        <>
            <Choice
                label="Which conflicts"
                value={which}
                options={[
                    ["all", "all"],
                    ["written", "written"],
                ]}
                onChoose={setWhich}
            />
            {spaces.length > 1 && (
                <Choice
                    label="Space of the conflicts"
                    value={space}
                    options={spaces.map((s): [Space, string] => [s, s])}
                    onChoose={setPicked}
                />
            )}
        </>
    );
    return (
        <>
            <Head tools={tools}>
                <b>{answer.data ? count(answer.data.total) : "…"}</b> {plural(answer.data?.total ?? 0, "range")} of
                bytes <span class="soft">touched by more than one warp{space === "shared" ? " of a CTA" : ""}</span>
            </Head>
            <div class="scrolled">
                {answer.error && <Failed answer={answer} />}
                {answer.waiting && !answer.data && <p class="soft working pad">Comparing the warps</p>}
                {answer.data &&
                    !all.length &&
                    (isFiltered(state.filter) ? (
                        <NothingLeft what="conflicts" />
                    ) : (
                        <Empty title="No byte was touched by more than one warp." />
                    ))}
                {all.length > 0 && !rows.length && (
                    <Empty title="No such conflicts.">
                        <button onClick={() => setWhich("all")}>Show all</button>
                    </Empty>
                )}
                {rows.length > 0 && <ConflictTable rows={rows} space={space} />}
                {answer.data && answer.data.total > all.length && (
                    <p class="soft pad">
                        {count(all.length)} are shown, those with plain stores first. Narrow the filter to see others.
                    </p>
                )}
            </div>
        </>
    );
}

function ConflictTable({ rows, space }: { rows: Conflict[]; space: Space }) {
    const [open, setOpen] = useState<number | null>(null);
    return (
        <table class="conflicts">
            <thead>
                <tr>
                    <th class="text">bytes</th>
                    <th>size</th>
                    <th>warps</th>
                    <th>writers</th>
                    <th class="text">kind</th>
                    <th>lanes</th>
                    <th />
                </tr>
            </thead>
            <tbody>
                {rows.map((conflict, i) => (
                    <>
                        <ConflictRow
                            conflict={conflict}
                            space={space}
                            open={open === i}
                            onToggle={() => setOpen(open === i ? null : i)}
                        />
                        {open === i && (
                            <tr class="inner">
                                <td colSpan={7}>
                                    <Touches conflict={conflict} space={space} />
                                </td>
                            </tr>
                        )}
                    </>
                ))}
            </tbody>
        </table>
    );
}

interface ConflictRowProps {
    conflict: Conflict;
    space: Space;
    open: boolean;
    onToggle: () => void;
}
function ConflictRow({ conflict: c, space, open, onToggle }: ConflictRowProps) {
    const { launch, set } = useModel(),
        [tone, kind] = verdictOf(c);
    return (
        <tr class={open ? "on" : ""}>
            <td class="text">
                <button
                    class="link"
                    aria-expanded={open}
                    onClick={onToggle}
                    title={`${hex(c.first)} to ${hex(c.last)}`}
                >
                    {open ? "▾" : "▸"} {addressText(launch, space, c.first)}
                </button>
                {space === "shared" && c.touches[0] && (
                    <span class="soft"> of CTA {pointText(c.touches[0].cta, launch.grid)}</span>
                )}
            </td>
            <td>{bytes(c.last - c.first + 1)}</td>
            <td>{count(c.warps)}</td>
            <td>{count(c.writers)}</td>
            <td class="text">
                <span class={`tone ${tone}`}>{kind}</span>
            </td>
            <td>{count(c.touchCount)}</td>
            <td>
                <button
                    onClick={() =>
                        set({ view: "addresses", bytes: { space, first: c.first, last: c.last }, window: null })
                    }
                >
                    Map
                </button>
            </td>
        </tr>
    );
}

// The lanes that touched the bytes of a conflict; one that is clicked is selected.
function Touches({ conflict, space }: { conflict: Conflict; space: Space }) {
    const model = useModel(),
        { launch, state } = model,
        more = conflict.touchCount - conflict.touches.length;
    return (
        <>
            <ul class="touches">
                {conflict.touches.map((t) => (
                    <li>
                        <button
                            class={t.index === state.record && t.lane === state.lane ? "on" : ""}
                            onClick={() => model.set({ record: t.index, lane: t.lane })}
                        >
                            <i class={`dot ${kindOf(model, t.site)}`} />
                            {`${model.sites.get(t.site)?.operation} by CTA ${pointText(t.cta, launch.grid)}, ` +
                                `warp ${t.warp}, lane ${t.lane}`}
                            <span class="soft">
                                {placeText(model.run, model.sites.get(t.site))}
                                {` · ${addressText(launch, space, t.address)}`}
                            </span>
                        </button>
                    </li>
                ))}
            </ul>
            {more > 0 && <p class="soft">{counted(more, "more lane", "more lanes")}</p>}
        </>
    );
}
