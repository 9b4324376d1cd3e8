// The graph of launches, copies and the host: a column for each in call order, a lane for each stream, links as thick
// as their bytes, repeated iterations as one under a bracket with their number. It draws only the columns in sight.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isPossible, sumsText, whatOf, type FlowData, type LinkKind } from "./flow-data";
import {
    BOX,
    COLUMN,
    HEAD,
    HIGH,
    LANE,
    LEFT,
    curveOf,
    drawnLinks,
    layoutOf,
    xOf,
    yOf,
    type Bracket,
    type Drawn,
    type Layout,
} from "./flow-layout";
import { bytes, count, fitted } from "./format";
import { useTheme } from "./theme";

export type Marked = "enforced" | "true" | "none";
// A place, a link, or two places that a finding names and no link connects.
export type Chosen = { place: number } | { link: number } | { pair: [number, number] } | null;

interface GraphProps {
    data: FlowData;
    kinds: LinkKind[];
    marked: Marked;
    chosen: Chosen;
    onChoose: (chosen: Chosen) => void;
}

const LETTERS = 12; // that fit into a box

const isOn = ({ data, marked }: GraphProps, place: number) =>
    marked !== "none" && data.places[place][marked === "enforced" ? "on_enforced" : "on_true"] > 0;

function touches(chosen: Chosen, { link, index }: Drawn): boolean {
    if (!chosen || "pair" in chosen) return false;
    return "link" in chosen ? chosen.link === index : chosen.place === link.from || chosen.place === link.to;
}

// The places that are chosen, or whose link is.
function placesOf({ data, chosen }: GraphProps): number[] {
    if (!chosen) return [];
    if ("pair" in chosen) return chosen.pair;
    if ("place" in chosen) return [chosen.place];
    return [data.links[chosen.link].from, data.links[chosen.link].to];
}

function LinkLine({ props, layout, drawn }: { props: GraphProps; layout: Layout; drawn: Drawn }) {
    const { link, kind, width, index } = drawn,
        { places } = props.data;
    const classes = [
        "link-line",
        kind,
        kind === "true" && isPossible(link) ? "possible" : "",
        props.chosen ? (touches(props.chosen, drawn) ? "chosen" : "faint") : "",
    ].join(" ");
    return (
        <path
            class={classes}
            d={curveOf(layout, link)}
            stroke-width={width}
            marker-end={`url(#arrow-${kind})`}
            onClick={() => props.onChoose({ link: index })}
        >
            <title>
                {`${places[link.from].node} ${whatOf(places[link.from])} → ${places[link.to].node} ` +
                    `${whatOf(places[link.to])}${link.carried ? " of a later iteration" : ""}: ${sumsText(link)}`}
            </title>
        </path>
    );
}

function PlaceBox({ props, layout, index }: { props: GraphProps; layout: Layout; index: number }) {
    const place = props.data.places[index],
        isChosen = placesOf(props).includes(index),
        isAlone = isChosen && "place" in props.chosen!;
    const choose = () => props.onChoose(isAlone ? null : { place: index });
    const press = (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        choose();
        event.preventDefault();
        event.stopPropagation();
    };
    const says =
        `${whatOf(place)} ${place.times > 1 ? `× ${count(place.times)}, first ${place.node}` : place.node}: ` +
        `reads ${bytes(place.read_bytes)}, writes ${bytes(place.written_bytes)}`;
    const classes = [
        "place",
        place.kind.replace(" ", "-"),
        isOn(props, index) ? "on-chain" : "",
        isChosen ? "chosen" : "",
    ].join(" ");
    return (
        <g
            class={classes}
            transform={`translate(${xOf(index)},${yOf(layout, index)})`}
            role="button"
            tabindex={0}
            aria-pressed={isChosen}
            aria-label={says}
            data-place={index}
            onClick={choose}
            onKeyDown={press}
        >
            <title>{place.name && place.kind === "launch" ? `${says}\n${place.name}` : says}</title>
            <rect width={BOX} height={HIGH} rx="4" />
            <text x={BOX / 2} y="16">
                {`${fitted(whatOf(place), LETTERS)} `}
            </text>
            <text x={BOX / 2} y="32" class="small">
                {place.times > 1 ? `× ${count(place.times)}` : fitted(place.node, LETTERS)}
            </text>
        </g>
    );
}

function LoopBracket({ bracket }: { bracket: Bracket }) {
    const left = xOf(bracket.first) - 4,
        right = xOf(bracket.last) + BOX + 4,
        y = HEAD * bracket.depth;
    return (
        <g class="bracket">
            <path d={`M${left},${y + 24}V${y + 20}H${right}V${y + 24}`} />
            <text x={(left + right) / 2} y={y + 15}>
                × {count(bracket.times)}
            </text>
        </g>
    );
}

// The columns in sight of a place that scrolls sideways, and one more on each side.
function useSight(places: number, unit: number) {
    const holder = useRef<HTMLDivElement>(null);
    const [sight, setSight] = useState<[number, number]>([0, 40]);
    useEffect(() => {
        const element = holder.current!;
        const look = () => {
            const first = Math.floor((element.scrollLeft / unit - LEFT) / COLUMN) - 1;
            setSight([Math.max(0, first), first + Math.ceil(element.clientWidth / unit / COLUMN) + 2]);
        };
        const observer = new ResizeObserver(look);
        observer.observe(element);
        element.addEventListener("scroll", look, { passive: true });
        return () => {
            observer.disconnect();
            element.removeEventListener("scroll", look);
        };
    }, [places, unit]);
    return { holder, sight };
}

function Arrows() {
    return (
        <defs>
            {(["true", "reuse", "race"] as const).map((kind) => (
                <marker
                    id={`arrow-${kind}`}
                    class={`arrow ${kind}`}
                    viewBox="0 0 8 8"
                    refX="5"
                    refY="4"
                    markerWidth="8"
                    markerHeight="8"
                    markerUnits="userSpaceOnUse"
                    orient="auto"
                >
                    <path d="M0,0L8,4L0,8z" />
                </marker>
            ))}
        </defs>
    );
}

export function FlowGraph(props: GraphProps) {
    const { data, kinds, chosen } = props;
    const { unit } = useTheme(), // larger with the letters of the page
        layout = useMemo(() => layoutOf(data), [data]),
        { holder, sight } = useSight(data.places.length, unit),
        [first, last] = [sight[0], Math.min(sight[1], data.places.length - 1)];
    const links = useMemo(() => drawnLinks(data, kinds, first, last), [data, kinds, first, last]);
    // What was chosen elsewhere comes into sight.
    useEffect(() => {
        const places = placesOf(props);
        if (!places.length) return;
        const { scrollLeft, clientWidth } = holder.current!,
            [left, right] = [unit * xOf(Math.min(...places)), unit * (xOf(Math.max(...places)) + BOX)];
        if (left < scrollLeft || right > scrollLeft + clientWidth) holder.current!.scrollLeft = left - clientWidth / 8;
    }, [chosen]);
    return (
        <div class="flow-graph">
            <div class="flow-lanes" style={{ paddingTop: `${unit * layout.top}px` }} aria-hidden="true">
                {layout.lanes.map((name) => (
                    <span style={{ height: `${unit * LANE}px` }}>{name}</span>
                ))}
            </div>
            <div class="flow-scroll" ref={holder}>
                <svg
                    width={unit * layout.width}
                    height={unit * layout.height}
                    viewBox={`0 0 ${layout.width} ${layout.height}`}
                    role="group"
                    aria-label="Launches, copies and the host"
                >
                    <Arrows />
                    {layout.lanes.map((_, i) => (
                        <rect
                            class={`lane ${i % 2 ? "odd" : ""}`}
                            y={layout.top + LANE * i}
                            width={layout.width}
                            height={LANE}
                        />
                    ))}
                    {layout.brackets
                        .filter((bracket) => bracket.last >= first && bracket.first <= last)
                        .map((bracket) => (
                            <LoopBracket bracket={bracket} />
                        ))}
                    {links.map((drawn) => (
                        <LinkLine props={props} layout={layout} drawn={drawn} />
                    ))}
                    {data.places.slice(first, last + 1).map((_, i) => (
                        <PlaceBox key={first + i} props={props} layout={layout} index={first + i} />
                    ))}
                </svg>
            </div>
        </div>
    );
}
