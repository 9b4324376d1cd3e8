// Records added up by line, site, allocation, operation, CTA or warp, the heaviest first; a click
// makes a group the filter.
import { useMemo, useState } from "preact/hooks";
import { counted, short } from "../format";
import { useAsk } from "./ask";
import { useModel, type Model } from "./model";
import { Empty, Failed, Share, costTexts, efficiency, toneOf } from "./parts";
import { fileName, placeText, pointText } from "./places";
import type { Filter, Group, GroupBy, OperationKind } from "./source";
import { GROUPS, toggled } from "./state";

const SHOWN = 200;
const NAMES: Record<GroupBy, string> = {
    line: "line",
    site: "site",
    allocation: "allocation",
    operation: "operation",
    cta: "CTA",
    warp: "warp",
};

type Change = { filter: Partial<Filter>; on: boolean } | null;

// What the filter becomes when the group is clicked, and whether it is in it now.
function changeOf(model: Model, by: GroupBy, group: Group): Change {
    const { filter } = model.state,
        n = Number(group.key);
    switch (by) {
        case "line": {
            const [source, line] = group.key.split(":").map(Number);
            if (source === undefined || line === undefined || Number.isNaN(source + line)) return null;
            const item = { source, line },
                same = (a: typeof item, b: typeof item) => a.source === b.source && a.line === b.line;
            return {
                filter: { lines: toggled(filter.lines, item, same) },
                on: filter.lines.some((l) => same(l, item)),
            };
        }
        case "site":
            return { filter: { sites: toggled(filter.sites, n) }, on: filter.sites.includes(n) };
        case "cta":
        case "warp": {
            const field = by === "cta" ? "ctas" : "warps",
                same = (a: [number, number], b: [number, number]) => a[0] === b[0] && a[1] === b[1];
            return {
                filter: { [field]: toggled(filter[field], [n, n] as [number, number], same) },
                on: filter[field].some((r) => same(r, [n, n])),
            };
        }
        case "operation": {
            const kind: OperationKind = group.key.startsWith("atomic")
                ? "atomic"
                : group.key.startsWith("store")
                  ? "store"
                  : "load";
            return { filter: { kinds: toggled(filter.kinds, kind) }, on: filter.kinds.includes(kind) };
        }
        case "allocation": {
            const found = model.launch.allocations.find((a) => a.allocation === n);
            if (!found) return null;
            const range = { space: "global" as const, first: found.address, last: found.address + found.size - 1 };
            const on =
                filter.range?.space === "global" &&
                filter.range.first === range.first &&
                filter.range.last === range.last;
            return { filter: { range: on ? null : range }, on };
        }
    }
}

function nameOf(model: Model, by: GroupBy, group: Group, oneFile: boolean): string {
    const n = Number(group.key),
        { run, launch } = model;
    if (by === "line" && /^\d+:\d+$/.test(group.key)) {
        const [source, line] = group.key.split(":").map(Number);
        return oneFile ? `line ${line}` : `${fileName(run, source) ?? "source"}:${line}`;
    }
    if (by === "site" && model.sites.has(n)) {
        const site = model.sites.get(n)!;
        return (
            `${site.line === null ? placeText(run, site) : `line ${site.line}`} ${site.operation}` +
            `${site.variable ? ` ${site.variable}` : ""}`
        );
    }
    if (by === "cta" && group.key !== "") return `CTA ${pointText(n, launch.grid)}`;
    if (by === "warp" && group.key !== "") return `warp ${n}`;
    return group.label;
}

export function GroupPanel() {
    const model = useModel(),
        { launch, state } = model,
        by = state.group;
    const [text, setText] = useState("");
    const groups = useAsk(launch.launch, `groups|${by}|${JSON.stringify(state.filter)}`, async (signal) => ({
        by,
        ...(await model.source.groups(launch.launch, state.filter, by, SHOWN, signal)),
    }));
    const own =
        launch.sites
            .map((s) => model.sites.get(s.site)?.source ?? null)
            .find((s) => s !== null && model.run.sources.some((x) => x.source === s && x.hasText)) ?? null;
    const lines = useAsk(own, own !== null && (by === "line" || by === "site") ? "text" : null, () =>
        model.source.source(own!),
    );
    const code = useMemo(() => lines.data?.split("\n") ?? null, [lines.data]);
    const lineOf = (group: Group): string | null => {
        const [source, line] =
            by === "line"
                ? group.key.split(":").map(Number)
                : [model.sites.get(Number(group.key))?.source, model.sites.get(Number(group.key))?.line];
        return code && source === own && line ? (code[line - 1]?.trim() ?? null) : null;
    };
    const all = groups.data?.by === by ? groups.data.rows : [],
        most = Math.max(1, ...all.map((g) => g.bytes));
    const oneFile = new Set(all.map((group) => group.key.split(":")[0])).size === 1;
    const rows = all
        .map((group) => ({ group, name: nameOf(model, by, group, oneFile) }))
        .filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
    return (
        <section class="panel groups">
            <div class="headline">
                <h2>By</h2>
                <select
                    aria-label="Group by"
                    value={by}
                    onChange={(event) => model.set({ group: event.currentTarget.value as GroupBy })}
                >
                    {GROUPS.map((name) => (
                        <option value={name}>{NAMES[name]}</option>
                    ))}
                </select>
                <input
                    type="search"
                    placeholder="Find"
                    aria-label="Find a group"
                    value={text}
                    onInput={(event) => setText(event.currentTarget.value)}
                />
            </div>
            {groups.error && <Failed answer={groups} />}
            {groups.data && !all.length && !groups.waiting && <p class="soft">No requests to group.</p>}
            {all.length > 0 && !rows.length && (
                <Empty title={`No ${NAMES[by]} matches '${text}'.`}>
                    <button onClick={() => setText("")}>Show all</button>
                </Empty>
            )}
            <ul class={`grouplist ${groups.waiting ? "dim" : ""}`}>
                {rows.map(({ group, name }) => {
                    const change = changeOf(model, by, group),
                        used = efficiency(group);
                    const title = [name, ...costTexts(group)].join("\n");
                    return (
                        <li>
                            <button
                                aria-pressed={!!change?.on}
                                class={change?.on ? "on" : ""}
                                disabled={!change}
                                title={title}
                                onClick={() => change && model.set({ filter: { ...state.filter, ...change.filter } })}
                            >
                                <Share value={group.bytes / most}>
                                    <span class="name">{name}</span>
                                </Share>
                                <span class="num">{short(group.accesses)}</span>
                                <span class={`num tone ${toneOf(used)}`}>
                                    {used === null ? "–" : `${Math.round(100 * used)}%`}
                                </span>
                                {lineOf(group) && <small>{lineOf(group)}</small>}
                            </button>
                        </li>
                    );
                })}
            </ul>
            {groups.data && groups.data.total > all.length && !!all.length && (
                <p class="soft">
                    {counted(groups.data.total - all.length, "smaller group is", "smaller groups are")} not shown.
                </p>
            )}
            {all.length > 0 && <p class="legend soft">bar: bytes requested · accesses · efficiency</p>}
        </section>
    );
}
