// A request to shared memory, lane by bank: a row per lane, a column per bank, a cell where the lane
// wants a word of the bank. Phases are apart. A bank with several distinct words is a conflict, the
// redder the more ways; lanes on one word share it. 'By bank' stacks the distinct words of each
// bank: a column of one box is served at once.
import { counted } from "../format";
import { Canvas, drawLetter, unitOf, type Brush } from "./canvas";
import { kindColour, type Hover } from "./model";
import type { One } from "./records";
import { BANKS, bankCost, isActive, type Phase } from "./requests";
import { cssOf, inkOn, mix, rgbOf } from "./paint";
import type { Site } from "./source";
import type { Theme } from "../theme";
import type { Store } from "./store";

const LEFT = 84,
    TOP = 18,
    GAP = 8,
    LOW = 13,
    HIGH = 19;

// Rows are higher where the screen has room for two phases of them.
const rowHeight = () => (innerHeight > 1000 * unitOf() ? HIGH : LOW);

// Two words are red already; 32 are the full alarm.
function wayColour(theme: Theme, ways: number, plain: string): string {
    if (ways <= 1) return plain;
    return cssOf(mix(rgbOf(theme.palette[4]), rgbOf(theme.alarm), Math.min(1, Math.log2(ways) / 5)));
}

export function BankPicture({
    one,
    site,
    bankBytes,
    stacked,
    lane,
    hover,
    letters,
    onLane,
}: {
    one: One;
    site: Site | undefined;
    bankBytes: number;
    stacked: boolean;
    lane: number | null;
    hover: Store<Hover | null>;
    letters: Map<number, string>;
    onLane: (lane: number | null, sticky: boolean) => void;
}) {
    const width = site?.width ?? 4,
        cost = bankCost(one.addresses, one.mask, width, bankBytes, site?.operation === "load");
    const tallRow = rowHeight(),
        rowsOf = (phase: Phase) => (stacked ? Math.max(1, phase.ways) : phase.lanes);
    const tall = cost.phases.reduce((sum, phase) => sum + rowsOf(phase) * tallRow + GAP, TOP + (stacked ? 0 : 18));
    const geometry = (wide: number, unit: number) => ({
        left: LEFT * unit,
        cell: Math.max(6 * unit, Math.min(26 * unit, Math.floor((wide - (LEFT + 6) * unit) / BANKS))),
    });

    const draw = ({ context, width: wide, unit, theme, small }: Brush) => {
        const { left, cell } = geometry(wide, unit),
            row = tallRow * unit,
            plain = kindColour(theme, site?.kind ?? "load");
        const pointed = hover.get()?.record?.index === one.index ? hover.get()!.lane : null;
        const mark = (x: number, y: number, lanes: number[]) => {
            if (!lanes.some((l) => l === lane || l === pointed)) return;
            context.strokeStyle = theme.emphasis;
            context.lineWidth = 2 * unit;
            context.strokeRect(x + unit / 2, y + unit / 2, cell - 2 * unit, row - 2 * unit);
        };
        const box = (x: number, y: number, colour: string, text: string, letter: string | undefined) => {
            context.fillStyle = colour;
            context.fillRect(x, y, cell - unit, row - unit);
            if (letter)
                return drawLetter(
                    context,
                    theme,
                    letter,
                    x + cell / 2 - unit / 2,
                    y + row / 2,
                    cell - unit,
                    row - unit,
                );
            context.fillStyle = inkOn(colour);
            if (context.measureText(text).width < cell) context.fillText(text, x + cell / 2 - unit / 2, y + row / 2);
        };
        context.font = small;
        context.textAlign = "center";
        context.fillStyle = theme.text;
        for (let bank = 0; bank < BANKS; bank += cell < 14 * unit ? 4 : 1)
            context.fillText(String(bank), left + bank * cell + cell / 2 - unit / 2, (TOP / 2) * unit);
        context.textAlign = "left";
        context.fillText(stacked ? "bank" : "lane ↓ bank →", 2 * unit, (TOP / 2) * unit);
        context.textAlign = "center";
        let y = TOP * unit;
        for (const phase of cost.phases) {
            const rows = rowsOf(phase);
            for (let r = 0; r < rows; r++)
                for (let bank = 0; bank < BANKS; bank++) {
                    context.fillStyle = theme.background;
                    context.fillRect(left + bank * cell, y + r * row, cell - unit, row - unit);
                }
            const filled = new Array<number>(BANKS).fill(0);
            for (const word of phase.words) {
                const ways = phase.perBank[word.bank],
                    colour = wayColour(theme, ways, plain),
                    x = left + word.bank * cell;
                if (stacked) {
                    const at = y + filled[word.bank]++ * row;
                    box(
                        x,
                        at,
                        colour,
                        word.lanes.length > 1 ? `${word.lanes[0]}+` : String(word.lanes[0]),
                        word.lanes.map((l) => letters.get(l)).find(Boolean),
                    );
                    mark(x, at, word.lanes);
                } else
                    for (const l of word.lanes) {
                        const at = y + (l - phase.first) * row;
                        box(x, at, colour, String(Math.floor(word.word / BANKS)), letters.get(l));
                        mark(x, at, [l]);
                    }
            }
            if (!stacked) {
                context.textAlign = "right";
                for (let l = 0; l < phase.lanes; l++) {
                    context.fillStyle = theme.text;
                    context.globalAlpha = isActive(one.mask, phase.first + l) ? 1 : 0.4;
                    if (l % 2 === 0 || row > 15 * unit)
                        context.fillText(String(phase.first + l), left - 6 * unit, y + l * row + row / 2);
                }
                context.globalAlpha = 1;
                context.textAlign = "center";
            } else {
                context.fillStyle = theme.text;
                context.textAlign = "right";
                context.fillText(`${phase.ways}×`, left - 6 * unit, y + row / 2);
                context.textAlign = "center";
            }
            y += rows * row + GAP * unit;
        }
        if (!stacked) {
            // Distinct words of each bank: the wavefronts that it needs, all phases together.
            context.fillStyle = theme.text;
            context.textAlign = "right";
            context.fillText("ways", left - 6 * unit, y + 4 * unit);
            context.textAlign = "center";
            for (let bank = 0; bank < BANKS; bank++) {
                const ways = Math.max(0, ...cost.phases.map((phase) => phase.perBank[bank]));
                context.fillStyle = ways > 1 ? wayColour(theme, ways, plain) : theme.text;
                if (ways && cell >= 9 * unit)
                    context.fillText(String(ways), left + bank * cell + cell / 2, y + 4 * unit);
            }
        }
    };
    const laneAt = (x: number, y: number, wide: number): number | null => {
        const unit = unitOf(),
            { left, cell } = geometry(wide, unit);
        const bank = Math.floor((x - left) / cell);
        let top = TOP * unit;
        for (const phase of cost.phases) {
            const rows = rowsOf(phase),
                r = Math.floor((y - top) / (tallRow * unit));
            if (r >= 0 && r < rows) {
                if (!stacked) return isActive(one.mask, phase.first + r) ? phase.first + r : null;
                return phase.words.filter((word) => word.bank === bank)[r]?.lanes[0] ?? null;
            }
            top += rows * tallRow * unit + GAP * unit;
        }
        return null;
    };
    const label =
        `${cost.ways > 1 ? `${cost.ways}-way bank conflict` : "no bank conflict"}: ` +
        `${counted(cost.wavefronts, "wavefront", "wavefronts")}, ideal: ${cost.ideal}`;
    const unit = unitOf();
    return (
        <>
            <p class="soft axes">
                {stacked
                    ? "One column per bank; each box is a distinct word, which takes a wavefront. Numbers: lanes."
                    : `One row per lane, one column per bank. Numbers: the row of the word, in rows of ${BANKS} ` +
                      `words (${BANKS * bankBytes} bytes). Different rows in one bank conflict.`}
            </p>
            <Canvas
                label={`Lanes and banks: ${label}`}
                draw={draw}
                redraw={(paint) => hover.watch(paint)}
                height={tall * unit}
                cursor="pointer"
                class="banks"
                onMove={(x, y, event) => onLane(laneAt(x, y, (event.target as HTMLElement).clientWidth), false)}
                onLeave={() => onLane(null, false)}
                onClick={(x, y, event) => onLane(laneAt(x, y, (event.target as HTMLElement).clientWidth), true)}
            />
        </>
    );
}
