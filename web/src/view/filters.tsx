// The filter: which records every view shows. What is set stands as chips, which a click takes away.
import { useEffect, useState } from "preact/hooks";
import { count } from "../format";
import { messageOf } from "./ask";
import { csvOf, save } from "./export";
import { useModel } from "./model";
import { fileName, placeText } from "./places";
import type { Filter, Space } from "./source";
import { Choice } from "./parts";
import { KINDS, NO_FILTER, grouped, hex, isFiltered, parseRanges, rangesText, toggled } from "./state";

function RangesField({
    label,
    hint,
    most,
    value,
    onChange,
}: {
    label: string;
    hint: string;
    most: number;
    value: [number, number][];
    onChange: (value: [number, number][]) => void;
}) {
    const [text, setText] = useState(rangesText(value)),
        [wrong, setWrong] = useState("");
    useEffect(() => {
        setText(rangesText(value));
        setWrong("");
    }, [rangesText(value)]);
    const take = () => {
        const ranges = parseRanges(text);
        if (!ranges) return setWrong(`Enter numbers and ranges, for example ${hint}.`);
        if (ranges.some(([, last]) => last >= most)) return setWrong(`Valid numbers: 0 to ${most - 1}.`);
        setWrong("");
        if (rangesText(ranges) !== rangesText(value)) onChange(ranges);
    };
    return (
        <label class={`field ${wrong ? "wrong" : ""}`}>
            <span>{label}</span>
            <input
                type="text"
                value={text}
                placeholder={`all of ${count(most)}`}
                aria-invalid={!!wrong}
                title={wrong || `For example ${hint}`}
                onInput={(event) => setText(event.currentTarget.value)}
                onBlur={take}
                onKeyDown={(event) =>
                    event.key === "Enter" ? take() : event.key === "Escape" && event.currentTarget.blur()
                }
            />
            {wrong && <small role="alert">{wrong}</small>}
        </label>
    );
}

// Copies of an unrolled instruction have one name, and are one chip.
const siteText = (model: ReturnType<typeof useModel>, site: number) => {
    const of = model.sites.get(site);
    return `${placeText(model.run, of)} ${of?.operation ?? `site ${site}`}${of?.variable ? ` of ${of.variable}` : ""}`;
};

// Each part of the filter as words and what takes it away.
function chipsOf(model: ReturnType<typeof useModel>): [string, Partial<Filter>][] {
    const { filter } = model.state,
        chips: [string, Partial<Filter>][] = [];
    if (filter.ctas.length) chips.push([`CTA ${rangesText(filter.ctas)}`, { ctas: [] }]);
    if (filter.warps.length) chips.push([`warp ${rangesText(filter.warps)}`, { warps: [] }]);
    for (const [name, sites] of grouped(filter.sites, (site) => siteText(model, site)))
        chips.push([
            sites.length > 1 ? `${name} × ${sites.length}` : name,
            { sites: filter.sites.filter((s) => !sites.includes(s)) },
        ]);
    for (const line of filter.lines)
        chips.push([
            `${fileName(model.run, line.source) ?? "source"}:${line.line}`,
            { lines: filter.lines.filter((l) => l !== line) },
        ]);
    for (const kind of filter.kinds) chips.push([kind, { kinds: filter.kinds.filter((k) => k !== kind) }]);
    if (filter.space) chips.push([filter.space, { space: null }]);
    if (filter.range)
        chips.push([`${filter.range.space} ${hex(filter.range.first)} to ${hex(filter.range.last)}`, { range: null }]);
    if (filter.partial) chips.push(["partial warps", { partial: false }]);
    return chips;
}

function SaveButton() {
    const model = useModel(),
        [saving, setSaving] = useState(false);
    const go = async () => {
        setSaving(true);
        try {
            const { text, requests, total } = await csvOf(model);
            save(`launch-${model.launch.launch}.csv`, text);
            if (requests < total)
                model.say(
                    `The file has the first ${count(requests)} of ${count(total)} requests; 'ctascope ` +
                        "export' writes all requests of a launch.",
                );
        } catch (error) {
            model.say(messageOf(error));
        }
        setSaving(false);
    };
    return (
        <button
            class={saving ? "working" : ""}
            disabled={saving || !model.head.total}
            title="Saves each access that matches the filter as one row"
            onClick={() => void go()}
        >
            Save as CSV
        </button>
    );
}

export function FilterPanel() {
    const model = useModel(),
        { launch, state } = model,
        { filter } = state;
    const change = (part: Partial<Filter>) => model.set({ filter: { ...filter, ...part } });
    const chips = chipsOf(model),
        { total } = model.head;
    const spaces = launch.spaces.map((s) => s.space);
    return (
        <section class="panel filter">
            <h2>Filter</h2>
            <p class="matched" aria-live="polite">
                {isFiltered(filter) || model.run.sampled ? (
                    <>
                        <b>{total === null ? "…" : count(total)}</b> of {count(launch.records)} requests
                        {model.run.sampled && ", from part of the launch"}
                    </>
                ) : (
                    <>
                        <b>{count(launch.records)}</b> requests,{" "}
                        {launch.unreadable ? (
                            <b class="poor">{count(launch.unreadable)} of them unreadable</b>
                        ) : launch.recorded === "sample" ? (
                            "from a sample of the CTAs"
                        ) : (
                            "all shown"
                        )}
                    </>
                )}
                {isFiltered(filter) && (
                    <button class="link" onClick={() => model.set({ filter: NO_FILTER })}>
                        clear
                    </button>
                )}
            </p>
            {chips.length > 0 && (
                <div class="chips">
                    {chips.map(([text, without]) => (
                        <button class="chip" title={`${text}: remove from the filter`} onClick={() => change(without)}>
                            <span>{text}</span>
                            <i>×</i>
                        </button>
                    ))}
                </div>
            )}
            {total === 0 && <p class="nothing">Nothing matches.</p>}
            <RangesField
                label="CTA"
                hint="0-3, 7"
                most={launch.ctaCount}
                value={filter.ctas}
                onChange={(ctas) => change({ ctas })}
            />
            <RangesField
                label="Warp"
                hint="0-3, 7"
                most={launch.warpsPerCta}
                value={filter.warps}
                onChange={(warps) => change({ warps })}
            />
            <div class="field">
                <span>Kind</span>
                <div class="choice kinds" role="group" aria-label="Operations">
                    {KINDS.map((kind) => (
                        <button
                            aria-pressed={filter.kinds.includes(kind)}
                            class={filter.kinds.includes(kind) ? "on" : ""}
                            onClick={() => change({ kinds: toggled(filter.kinds, kind) })}
                        >
                            <i class={`dot ${kind}`} />
                            {kind}
                        </button>
                    ))}
                </div>
            </div>
            <div class="field">
                <span>Space</span>
                <Choice
                    label="Address space"
                    value={filter.space ?? "any"}
                    onChoose={(space) => change({ space: space === "any" ? null : (space as Space) })}
                    options={[["any", "any"], ...spaces.map((s): [string, string] => [s, s])]}
                />
            </div>
            <div class="last">
                <label class="check">
                    <input
                        type="checkbox"
                        checked={filter.partial}
                        onChange={(event) => change({ partial: event.currentTarget.checked })}
                    />
                    only partial warps
                </label>
                <SaveButton />
            </div>
        </section>
    );
}
