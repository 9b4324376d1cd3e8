// Pinned lanes and requests, named A, B, C: where each lies, and how far from each other.
import { count } from "../format";
import { kindOf, lanesMarks, useModel } from "./model";
import { addressText, placeText, pointText } from "./places";
import { hex, pinName } from "./state";

export function PinPanel() {
    const model = useModel(), { state, pinned, launch } = model;
    const places = pinned.map((one, i) => one && lanesMarks(model, one, state.pins[i]!.lane, "", "pin"));
    const first = places[0]?.length ? Math.min(...places[0].map((mark) => mark.first)) : null;
    return (
        <section class="panel pins">
            <div class="headline"><h2>Pins</h2><button class="link" onClick={() => model.set({ pins: [] })}>let all go</button></div>
            <ul>
                {state.pins.map((pin, i) => {
                    const one = pinned[i], marks = places[i], from = marks?.length ? Math.min(...marks.map((mark) => mark.first)) : null;
                    const away = i && one && pinned[0]?.space === one.space && first !== null && from !== null ? from - first : null;
                    const shared = i && marks && places[0] && pinned[0]?.space === one?.space ? overlap(marks, places[0]) : 0;
                    return (
                        <li class={pin.index === state.record && pin.lane === state.lane ? "on" : ""}>
                            <button class="pin" onClick={() => model.set({ record: pin.index, lane: pin.lane })}>
                                <b class={`letter ${one ? kindOf(model, one.site) : ""}`}>{pinName(i)}</b>
                                <span>
                                    {one ? <>CTA {pointText(one.cta, launch.grid)}, warp {one.warp}{pin.lane !== null && <>, lane {pin.lane}</>}
                                        <small>{from !== null && <code title={hex(from)}>{addressText(launch, one.space, from)}</code>}{" "}{placeText(model.run, model.sites.get(one.site))}</small>
                                        {away !== null && <small>A {away >= 0 ? "+" : "−"} {count(Math.abs(away))} B{shared ? `, ${count(shared)} B in common` : ""}</small>}</> : "…"}
                                </span>
                            </button>
                            <button class="icon" aria-label={`Let pin ${pinName(i)} go`} onClick={() => model.set({ pins: state.pins.filter((_, p) => p !== i) })}>×</button>
                        </li>
                    );
                })}
            </ul>
        </section>
    );
}

// Bytes that both touch.
function overlap(a: { first: number; last: number }[], b: { first: number; last: number }[]): number {
    const bytes = new Set<number>(), common = new Set<number>();
    for (const mark of a) for (let x = mark.first; x <= mark.last; x++) bytes.add(x);
    for (const mark of b) for (let x = mark.first; x <= mark.last; x++) if (bytes.has(x)) common.add(x);
    return common.size;
}
