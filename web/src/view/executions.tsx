// An access in a loop, execution by execution: what the warp's requests cost one after the other, as
// bars - of a reduction, how the conflicts grow from step to step. A click selects the request. Of a
// loop that the compiler unrolled, all copies of the instruction count.
import { count } from "../format";
import { useAsk } from "./ask";
import { useModel, type Model } from "./model";
import { plural } from "./parts";
import { recordAt, type One } from "./records";
import type { Site } from "./source";
import { NO_FILTER } from "./state";

const SHOWN = 128;

function copiesOf(model: Model, site: number): number[] {
    const own = model.sites.get(site);
    if (!own?.line) return [site];
    const same = (other: Site) =>
        other.source === own.source &&
        other.line === own.line &&
        other.column === own.column &&
        other.operation === own.operation &&
        other.width === own.width;
    return model.launch.sites.map((s) => s.site).filter((s) => same(model.sites.get(s)!));
}

export function Executions({ one }: { one: One }) {
    const model = useModel(),
        { launch, source } = model,
        sites = copiesOf(model, one.site);
    const own = {
        ...NO_FILTER,
        sites,
        space: one.space,
        ctas: [[one.cta, one.cta] as [number, number]],
        warps: [[one.warp, one.warp] as [number, number]],
    };
    const answer = useAsk(`${launch.launch}|${sites.join()}|${one.cta}|${one.warp}`, "executions", (signal) =>
        source.records(launch.launch, own, 0, SHOWN, signal),
    );
    if (!answer.data || answer.data.total < 2) return null;
    const { data } = answer,
        list = Array.from(data.index, (_, i) => recordAt(data, i));
    const unit = one.space === "shared" ? "wavefront" : "sector";
    const costOf = (it: One) =>
        it.space === "shared"
            ? ([it.wavefronts, it.idealWavefronts] as const)
            : ([it.sectors, it.idealSectors] as const);
    const highest = Math.max(1, ...list.map((it) => costOf(it)[0]));
    return (
        <div class="executions">
            <p class="soft">
                This access{sites.length > 1 && " (unrolled)"}: {unit}s in each of {count(data.total)} executions by
                this warp{data.total > list.length && `; the first ${count(list.length)} are shown`}
            </p>
            <ol>
                {list.map((it, i) => {
                    const [moved, ideal] = costOf(it),
                        text = `Execution ${i + 1}: ${moved} ${plural(moved, unit)}, ideal: ${ideal}`;
                    return (
                        <li>
                            <button
                                aria-label={text}
                                title={text}
                                aria-pressed={it.index === one.index}
                                class={moved > ideal ? "poor" : ""}
                                onClick={() => model.set({ record: it.index })}
                            >
                                <b>{moved}</b>
                                <i style={{ height: `${(100 * moved) / highest}%` }}>
                                    <u style={{ height: `${moved ? (100 * Math.min(ideal, moved)) / moved : 0}%` }} />
                                </i>
                            </button>
                        </li>
                    );
                })}
            </ol>
        </div>
    );
}
