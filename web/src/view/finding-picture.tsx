// The picture of a finding: one request that shows it, small. Lanes by banks for conflicts, lanes per address for
// atomics, active lanes, and the 32-byte sectors with what is used of them for the rest.
import type { ComponentChildren } from "preact";
import { counted } from "../format";
import { useAsk } from "./ask";
import { useModel, type Model } from "./model";
import { worstRequest, type One } from "./records";
import {
    BANKS,
    LANES,
    LINE_BYTES,
    SECTOR_BYTES,
    bankCost,
    isActive,
    lanesOf,
    piecesOf,
    unitsOf,
    unitsOfPieces,
} from "./requests";
import { NO_FILTER } from "./state";

interface Pictured {
    finding: string;
    site?: number | null;
    launch: number | null;
}

const CELL = 4;

interface PictureProps {
    label: string;
    wide: number;
    high: number;
    children: ComponentChildren;
}
function Picture({ label, wide, high, children }: PictureProps) {
    return (
        <figure class="small-picture">
            <svg viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={label}>
                {children}
            </svg>
            <figcaption class="soft">{label}</figcaption>
        </figure>
    );
}

// A row per lane, a column per bank; red where a bank has to serve several words.
function Banks({ one, width, bankBytes, loads }: { one: One; width: number; bankBytes: 4 | 8; loads: boolean }) {
    const cost = bankCost(one.addresses, one.mask, width, bankBytes, loads);
    return (
        <Picture
            label={`lanes (rows) by banks: ${counted(cost.wavefronts, "wavefront", "wavefronts")}, ideal ${cost.ideal}`}
            wide={BANKS * CELL}
            high={LANES * CELL}
        >
            <rect width={BANKS * CELL} height={LANES * CELL} class="ground" />
            {cost.phases.flatMap((phase) =>
                phase.words.flatMap(({ bank, lanes }) =>
                    lanes.map((lane) => (
                        <rect
                            x={bank * CELL}
                            y={lane * CELL}
                            width={CELL}
                            height={CELL - 0.6}
                            class={phase.perBank[bank] > 1 ? "bad" : "fine"}
                        />
                    )),
                ),
            )}
        </Picture>
    );
}

// A bar per address: the lanes that update it wait for each other.
function Multiplicity({ one, width }: { one: One; width: number }) {
    const units = unitsOf(one.addresses, one.mask, width, width),
        most = Math.max(...units.map((unit) => unit.lanes.length)),
        wide = BANKS * CELL,
        bar = wide / Math.max(8, units.length);
    return (
        <Picture
            label={`${counted(units.length, "address", "addresses")}, up to ${counted(most, "lane", "lanes")} on one`}
            wide={wide}
            high={64}
        >
            <rect width={wide} height={64} class="ground" />
            {units.map(({ lanes }, i) => (
                <rect
                    x={i * bar}
                    y={64 - 2 * lanes.length}
                    width={Math.max(0.5, bar - 0.8)}
                    height={2 * lanes.length}
                    class={lanes.length > 1 ? "bad" : "fine"}
                />
            ))}
        </Picture>
    );
}

function ActiveLanes({ one }: { one: One }) {
    return (
        <Picture label={`${lanesOf(one.mask).length} of 32 lanes active`} wide={LANES * CELL} high={10}>
            {Array.from({ length: LANES }, (_, lane) => (
                <rect
                    x={lane * CELL}
                    width={CELL - 0.8}
                    height={10}
                    class={isActive(one.mask, lane) ? "fine" : "bad"}
                />
            ))}
        </Picture>
    );
}

// A row per line of 128 bytes that is touched, its sectors, and in them the bytes that lanes want.
const LINES_SHOWN = 12;
function Sectors({ one, width }: { one: One; width: number }) {
    const pieces = piecesOf(one.addresses, one.mask, width, one.space),
        sectors = unitsOfPieces(pieces, SECTOR_BYTES),
        lines = [...new Set(sectors.map(({ unit }) => Math.floor((unit * SECTOR_BYTES) / LINE_BYTES)))],
        shown = lines.slice(0, LINES_SHOWN),
        more = lines.length - shown.length;
    const yOf = (address: number) => 6 * shown.indexOf(Math.floor(address / LINE_BYTES));
    return (
        <Picture
            label={
                `${counted(sectors.length, "sector", "sectors")} of 32 B ` +
                `in ${counted(lines.length, "line", "lines")}, ` +
                `ideal ${one.idealSectors || Math.ceil((lanesOf(one.mask).length * width) / SECTOR_BYTES)}` +
                (more > 0 ? `; ${counted(more, "line", "lines")} not shown` : "")
            }
            wide={LINE_BYTES}
            high={6 * shown.length}
        >
            {shown.map((_, i) => (
                <rect y={6 * i} width={LINE_BYTES} height={5} class="ground" />
            ))}
            {sectors
                .filter(({ unit }) => shown.includes(Math.floor((unit * SECTOR_BYTES) / LINE_BYTES)))
                .map(({ unit }) => (
                    <rect
                        x={(unit * SECTOR_BYTES) % LINE_BYTES}
                        y={yOf(unit * SECTOR_BYTES)}
                        width={SECTOR_BYTES - 0.6}
                        height={5}
                        class="moved"
                    />
                ))}
            {pieces
                .filter(({ start }) => yOf(start) >= 0)
                .map(({ start, length }) => (
                    <rect
                        x={start % LINE_BYTES}
                        y={yOf(start)}
                        width={Math.min(length, LINE_BYTES - (start % LINE_BYTES))}
                        height={5}
                        class="fine"
                    />
                ))}
        </Picture>
    );
}

function pictureOf(model: Model, finding: string, one: One) {
    const site = model.sites.get(one.site),
        width = site?.width ?? 4,
        bankBytes = model.launch.bankBytes;
    if (/lanes/.test(finding)) return <ActiveLanes one={one} />;
    if (/atomic/.test(finding)) return <Multiplicity one={one} width={width} />;
    if (one.space === "shared")
        return <Banks one={one} width={width} bankBytes={bankBytes} loads={site?.kind === "load"} />;
    return <Sectors one={one} width={width} />;
}

export function FindingPicture({ of }: { of: Pictured }) {
    const model = useModel(),
        isAsked = of.site !== null && of.site !== undefined && of.launch !== null;
    const answer = useAsk(of.launch, isAsked ? `picture|${of.site}|${of.finding}` : null, (signal) =>
        worstRequest(
            model.source,
            of.launch!,
            { ...NO_FILTER, sites: [of.site!], partial: /active lanes/.test(of.finding) },
            signal,
        ),
    );
    return answer.data && pictureOf(model, of.finding, answer.data);
}
