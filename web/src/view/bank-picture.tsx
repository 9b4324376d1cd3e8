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

interface BankPictureProps {
    one: One;
    site: Site | undefined;
    bankBytes: number;
    stacked: boolean;
    lane: number | null;
    hover: Store<Hover | null>;
    letters: Map<number, string>;
    onLane: (lane: number | null, sticky: boolean) => void;
}

// What is drawn: the request's phases, one below the other, and how high each of their rows is.
interface Layout {
    phases: Phase[];
    mask: number;
    stacked: boolean;
    row: number; // height, in units
}

const rowsOf = (phase: Phase, stacked: boolean) => (stacked ? Math.max(1, phase.ways) : phase.lanes);
const heightOf = ({ phases, stacked, row }: Layout) =>
    phases.reduce((sum, phase) => sum + rowsOf(phase, stacked) * row + GAP, TOP + (stacked ? 0 : 18));
const columnsOf = (wide: number, unit: number) => ({
    left: LEFT * unit,
    cell: Math.max(6 * unit, Math.min(26 * unit, Math.floor((wide - (LEFT + 6) * unit) / BANKS))),
});

// The lane whose word is drawn there.
function laneAt({ phases, mask, stacked, row }: Layout, x: number, y: number, wide: number): number | null {
    const unit = unitOf(),
        { left, cell } = columnsOf(wide, unit);
    const bank = Math.floor((x - left) / cell);
    let top = TOP * unit;
    for (const phase of phases) {
        const rows = rowsOf(phase, stacked),
            r = Math.floor((y - top) / (row * unit));
        if (r >= 0 && r < rows) {
            if (!stacked) return isActive(mask, phase.first + r) ? phase.first + r : null;
            return phase.words.filter((word) => word.bank === bank)[r]?.lanes[0] ?? null;
        }
        top += rows * row * unit + GAP * unit;
    }
    return null;
}

interface Marks {
    plain: string; // colour of words without a conflict
    lanes: (number | null)[]; // outlined: the selected one and the one pointed at
    letters: Map<number, string>;
}

function drawBankNumbers({ context, unit, theme, small, width }: Brush, stacked: boolean): void {
    const { left, cell } = columnsOf(width, unit);
    context.font = small;
    context.textAlign = "center";
    context.fillStyle = theme.text;
    for (let bank = 0; bank < BANKS; bank += cell < 14 * unit ? 4 : 1)
        context.fillText(String(bank), left + bank * cell + cell / 2 - unit / 2, (TOP / 2) * unit);
    context.textAlign = "left";
    context.fillText(stacked ? "bank" : "lane ↓ bank →", 2 * unit, (TOP / 2) * unit);
}

// The cells of a phase, from `y` on, and the words in them.
function drawPhase(brush: Brush, layout: Layout, phase: Phase, y: number, marks: Marks): void {
    const { context, unit, theme, width } = brush,
        { left, cell } = columnsOf(width, unit),
        { stacked } = layout,
        row = layout.row * unit;
    context.textAlign = "center";
    context.fillStyle = theme.background;
    for (let r = 0; r < rowsOf(phase, stacked); r++)
        for (let bank = 0; bank < BANKS; bank++)
            context.fillRect(left + bank * cell, y + r * row, cell - unit, row - unit);
    const word = (bank: number, r: number, lanes: number[], text: string) => {
        const x = left + bank * cell,
            top = y + r * row,
            letter = lanes.map((l) => marks.letters.get(l)).find(Boolean);
        const colour = (context.fillStyle = wayColour(theme, phase.perBank[bank], marks.plain)),
            middle = [x + cell / 2 - unit / 2, top + row / 2] as const;
        context.fillRect(x, top, cell - unit, row - unit);
        if (letter) drawLetter(context, theme, letter, ...middle, cell - unit, row - unit);
        else {
            context.fillStyle = inkOn(colour);
            if (context.measureText(text).width < cell) context.fillText(text, ...middle);
        }
        if (!lanes.some((l) => marks.lanes.includes(l))) return;
        context.strokeStyle = theme.emphasis;
        context.lineWidth = 2 * unit;
        context.strokeRect(x + unit / 2, top + unit / 2, cell - 2 * unit, row - 2 * unit);
    };
    const filled = new Array<number>(BANKS).fill(0);
    for (const { bank, lanes, word: index } of phase.words)
        if (stacked) word(bank, filled[bank]++, lanes, lanes.length > 1 ? `${lanes[0]}+` : String(lanes[0]));
        else for (const l of lanes) word(bank, l - phase.first, [l], String(Math.floor(index / BANKS)));
}

// Left of a phase: its lanes, or how many wavefronts it takes.
function drawRowNames({ context, unit, theme }: Brush, layout: Layout, phase: Phase, y: number): void {
    const row = layout.row * unit,
        right = (LEFT - 6) * unit;
    context.textAlign = "right";
    context.fillStyle = theme.text;
    if (layout.stacked) return context.fillText(`${phase.ways}×`, right, y + row / 2);
    for (let l = 0; l < phase.lanes; l++) {
        context.globalAlpha = isActive(layout.mask, phase.first + l) ? 1 : 0.4;
        if (l % 2 === 0 || row > 15 * unit) context.fillText(String(phase.first + l), right, y + l * row + row / 2);
    }
    context.globalAlpha = 1;
}

// Distinct words of each bank: the wavefronts that it needs, all phases together.
function drawWays({ context, unit, theme, width }: Brush, phases: Phase[], y: number, plain: string): void {
    const { left, cell } = columnsOf(width, unit);
    context.fillStyle = theme.text;
    context.textAlign = "right";
    context.fillText("ways", left - 6 * unit, y + 4 * unit);
    context.textAlign = "center";
    for (let bank = 0; bank < BANKS; bank++) {
        const ways = Math.max(0, ...phases.map((phase) => phase.perBank[bank]));
        context.fillStyle = ways > 1 ? wayColour(theme, ways, plain) : theme.text;
        if (ways && cell >= 9 * unit) context.fillText(String(ways), left + bank * cell + cell / 2, y + 4 * unit);
    }
}

export function BankPicture(props: BankPictureProps) {
    const { one, site, bankBytes, stacked, hover, onLane } = props;
    const cost = bankCost(one.addresses, one.mask, site?.width ?? 4, bankBytes, site?.operation === "load"),
        layout: Layout = { phases: cost.phases, mask: one.mask, stacked, row: rowHeight() };
    const draw = (brush: Brush) => {
        const { unit, theme } = brush,
            pointed = hover.get()?.record?.index === one.index ? hover.get()!.lane : null;
        const plain = kindColour(theme, site?.kind ?? "load"),
            marks = { plain, lanes: [props.lane, pointed], letters: props.letters };
        drawBankNumbers(brush, stacked);
        let y = TOP * unit;
        for (const phase of cost.phases) {
            drawPhase(brush, layout, phase, y, marks);
            drawRowNames(brush, layout, phase, y);
            y += rowsOf(phase, stacked) * layout.row * unit + GAP * unit;
        }
        if (!stacked) drawWays(brush, cost.phases, y, plain);
    };
    const under = (x: number, y: number, event: MouseEvent) =>
        laneAt(layout, x, y, (event.target as HTMLElement).clientWidth);
    const label =
        `${cost.ways > 1 ? `${cost.ways}-way bank conflict` : "no bank conflict"}: ` +
        `${counted(cost.wavefronts, "wavefront", "wavefronts")}, ideal: ${cost.ideal}`;
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
                height={heightOf(layout) * unitOf()}
                cursor="pointer"
                class="banks"
                onMove={(x, y, event) => onLane(under(x, y, event), false)}
                onLeave={() => onLane(null, false)}
                onClick={(x, y, event) => onLane(under(x, y, event), true)}
            />
        </>
    );
}
