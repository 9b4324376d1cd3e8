// Pinned lanes, requests and bytes: each has a letter and, if it is given one, a name; where it lies,
// what it costs, how far it is from A and how many bytes it has in common with A.
import { count } from "../format";
import { kindOf, pinMarks, useModel, type Mark } from "./model";
import { plural } from "./parts";
import { addressText, placeText, pointText } from "./places";
import type { One } from "./records";
import type { Space } from "./source";
import { PIN_NAME_MOST, hex, pinLetter, type Pin } from "./state";

type Bytes = Mark & { space: Space };

const firstOf = (bytes: Bytes[]): number | null => (bytes.length ? Math.min(...bytes.map((mark) => mark.first)) : null);
const sizeOf = ({ first, last }: { first: number; last: number }) => last - first + 1;

// Bytes that both have; either may be the same bytes many times over.
function inCommon(a: Bytes[], b: Bytes[]): number {
    const ends = (bytes: Bytes[]) => bytes.flatMap((mark) => [mark.first, mark.last + 1]);
    const cuts = [...new Set([...ends(a), ...ends(b)])].sort((x, y) => x - y);
    const has = (bytes: Bytes[], at: number) => bytes.some((mark) => mark.first <= at && at <= mark.last);
    return cuts.reduce(
        (sum, at, i) => (i + 1 < cuts.length && has(a, at) && has(b, at) ? sum + cuts[i + 1] - at : sum),
        0,
    );
}

function Title({ pin, one }: { pin: Pin; one: One | null }) {
    const { launch } = useModel();
    if (pin.bytes)
        return (
            <>
                {count(sizeOf(pin.bytes))} B of {pin.bytes.space} memory
            </>
        );
    return (
        one && (
            <>
                CTA {pointText(one.cta, launch.grid)}, warp {one.warp}
                {pin.lane !== null && <>, lane {pin.lane}</>}
            </>
        )
    );
}

function Where({ pin, one, from }: { pin: Pin; one: One | null; from: number }) {
    const model = useModel(),
        { launch, run } = model;
    const cost =
        !one || pin.lane !== null
            ? ""
            : one.space === "shared"
              ? `, ${one.wavefronts}/${one.idealWavefronts} ${plural(one.wavefronts, "wavefront")}`
              : `, ${one.sectors}/${one.idealSectors} ${plural(one.sectors, "sector")}`;
    return (
        <small>
            <code title={hex(from)}>{addressText(launch, pin.bytes?.space ?? one!.space, from)}</code>
            {one && ` ${placeText(run, model.sites.get(one.site))}`}
            {cost}
        </small>
    );
}

// How a pin lies to A.
function Against({ bytes, a }: { bytes: Bytes[]; a: Bytes[] }) {
    const from = firstOf(bytes),
        origin = firstOf(a);
    if (from === null || origin === null || bytes[0].space !== a[0].space) return null;
    const common = inCommon(bytes, a);
    return (
        <small>
            A {from >= origin ? "+" : "−"} {count(Math.abs(from - origin))} B
            {common > 0 && `, ${count(common)} B in common`}
        </small>
    );
}

export function PinPanel() {
    const model = useModel(),
        { state, pinned } = model;
    const places = state.pins.map((_, i) => pinMarks(model, i));
    const put = (i: number, name: string) =>
        model.set({ pins: state.pins.map((pin, p) => (p === i ? { ...pin, name: name.trim() } : pin)) });
    return (
        <section class="panel pins">
            <div class="headline">
                <h2>Pins</h2>
                <button class="link" onClick={() => model.set({ pins: [] })}>
                    unpin all
                </button>
            </div>
            <ul>
                {state.pins.map((pin, i) => {
                    const one = pinned[i] ?? null,
                        bytes = places[i],
                        from = firstOf(bytes),
                        letter = pinLetter(i);
                    const select = () =>
                        model.set(pin.bytes ? { bytes: pin.bytes } : { record: pin.index, lane: pin.lane });
                    return (
                        <li
                            class={
                                pin.index !== null && pin.index === state.record && pin.lane === state.lane ? "on" : ""
                            }
                        >
                            <button class="pin" aria-label={`Select pin ${letter}`} onClick={select}>
                                <b class={`letter ${one ? kindOf(model, one.site) : ""}`}>{letter}</b>
                            </button>
                            <div>
                                <input
                                    type="text"
                                    aria-label={`Name of pin ${letter}`}
                                    placeholder="name"
                                    maxLength={PIN_NAME_MOST}
                                    value={pin.name}
                                    onChange={(event) => put(i, event.currentTarget.value)}
                                    onKeyDown={(event) =>
                                        (event.key === "Enter" || event.key === "Escape") && event.currentTarget.blur()
                                    }
                                />
                                {from === null ? (
                                    "…"
                                ) : (
                                    <>
                                        <button class="pin" onClick={select}>
                                            <Title pin={pin} one={one} />
                                        </button>
                                        <Where pin={pin} one={one} from={from} />
                                        {i > 0 && <Against bytes={bytes} a={places[0]} />}
                                    </>
                                )}
                            </div>
                            <button
                                class="icon"
                                aria-label={`Unpin ${letter}`}
                                onClick={() => model.set({ pins: state.pins.filter((_, p) => p !== i) })}
                            >
                                ×
                            </button>
                        </li>
                    );
                })}
            </ul>
        </section>
    );
}
