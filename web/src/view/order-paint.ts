// The picture of addresses against the order of requests on its canvas.
import { count } from "../format";
import { drawLetter, type Brush } from "./canvas";
import { fitText } from "./fit-text";
import type { Model } from "./model";
import { LEFT, RIGHT, TOP, xOf, yIn, type Drag, type Frame, type Strip } from "./order-frame";
import { blend, inksOf, most } from "./paint";
import { addressText, allocationAt } from "./places";
import type { Order } from "./source";
import { pinLetter } from "./state";

// The answers for the strips, and what all of them together have.
export interface Dots {
    strips: Order[];
    reads: number; // the most of a dot
    writes: number;
    dots: number;
    of: number;
}

export const dotsOf = (strips: Order[]): Dots => ({
    strips,
    reads: Math.max(...strips.map((d) => most(d.reads))),
    writes: Math.max(...strips.map((d) => most(d.writes))),
    dots: strips.reduce((sum, d) => sum + d.reads.reduce((n, v, i) => n + (v || d.writes[i] ? 1 : 0), 0), 0),
    of: strips.reduce((sum, d) => sum + d.reads.length, 0),
});

// `scratch` is a canvas that is not shown.
export function drawOrder(brush: Brush, model: Model, frame: Frame, dots: Dots | null, scratch: HTMLCanvasElement) {
    const { context, theme, unit, small } = brush;
    for (const [place, strip] of frame.strips.entries()) {
        context.fillStyle = theme.background;
        context.fillRect(LEFT * unit, strip.top, frame.wide, strip.height);
        // While others are on their way, those of before may have other strips.
        if (dots?.strips.length === frame.strips.length)
            drawDots(brush, frame, strip, { ...dots, strip: dots.strips[place] }, scratch);
        context.font = small;
        context.fillStyle = theme.text;
        drawStripNames(brush, model, frame, strip);
        const range = model.state.bytes ?? model.hover.get()?.bytes;
        if (range?.space !== frame.space || range.last < strip.first || range.first > strip.last) continue;
        context.fillStyle = theme.emphasis;
        context.globalAlpha = 0.35;
        context.fillRect(LEFT * unit, ...spanIn(strip, range, unit, frame.wide));
        context.globalAlpha = 1;
    }
    drawAxis(brush, frame);
    drawRequests(brush, model, frame);
    drawPins(brush, model, frame);
}

// Top, width and height of bytes in a strip.
function spanIn(strip: Strip, range: { first: number; last: number }, unit: number, wide: number) {
    const y = yIn(strip, Math.max(strip.first, range.first)),
        end = yIn(strip, Math.min(strip.last, range.last) + 1);
    return [y, wide, Math.max(unit, end - y)] as const;
}

type StripDots = Dots & { strip: Order };
function drawDots(
    { context, theme }: Brush,
    frame: Frame,
    strip: Strip,
    { strip: data, reads, writes }: StripDots,
    scratch: HTMLCanvasElement,
): void {
    const inks = inksOf(theme);
    scratch.width = data.columns;
    scratch.height = data.rows;
    const ink = scratch.getContext("2d")!,
        pixels = ink.createImageData(data.columns, data.rows);
    for (let i = 0; i < data.reads.length; i++) {
        if (!data.reads[i] && !data.writes[i]) continue;
        const [r, g, b] = blend(inks, data.reads[i], data.writes[i], reads, writes);
        pixels.data.set([r, g, b, 255], 4 * i);
    }
    ink.putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = false;
    context.save();
    context.beginPath();
    context.rect(LEFT * frame.unit, strip.top, frame.wide, strip.height);
    context.clip();
    const x = xOf(frame, data.firstRecord),
        y = yIn(strip, data.first);
    context.drawImage(scratch, x, y, xOf(frame, data.lastRecord + 1) - x, yIn(strip, data.last + 1) - y);
    context.restore();
}

// Left of a strip: its allocation and how many elements that has, or its first and last address.
function drawStripNames({ context, unit }: Brush, { launch }: Model, { space }: Frame, strip: Strip): void {
    const addressOf = (byte: number) => (space === "global" ? addressText(launch, space, byte) : `+${count(byte)} B`);
    const label = (text: string, y: number) =>
        context.fillText(fitText(context, text, (LEFT - 14) * unit), (LEFT - 6) * unit, y);
    context.textAlign = "right";
    label(strip.name || addressOf(strip.first), strip.top + 7 * unit);
    if (strip.height <= 34 * unit) return;
    const elementBytes = allocationAt(launch, strip.first)?.elementBytes ?? 1,
        last = Math.floor((strip.last - strip.first) / elementBytes);
    label(strip.name ? `[${count(last)}]` : addressOf(strip.last), strip.top + strip.height - 6 * unit);
}

function drawAxis({ context, theme, unit, width }: Brush, { view, wide, tall }: Frame): void {
    const y = TOP * unit + tall + 12 * unit;
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.fillText(count(view.from), LEFT * unit, y);
    context.textAlign = "right";
    context.fillText(count(view.to), width - RIGHT * unit, y);
    context.textAlign = "center";
    context.fillText("request →", LEFT * unit + wide / 2, y);
}

// The selected request and the one that another view points at.
function drawRequests({ context, theme, unit }: Brush, { state, hover }: Model, frame: Frame): void {
    const { view } = frame;
    for (const [record, alpha] of [
        [state.record, 0.9],
        [hover.get()?.record?.index ?? null, 0.5],
    ] as const)
        if (record !== null && record >= view.from && record <= view.to) {
            context.fillStyle = theme.emphasis;
            context.globalAlpha = alpha;
            context.fillRect(xOf(frame, record + 0.5) - unit / 2, TOP * unit, Math.max(1, unit), frame.tall);
            context.globalAlpha = 1;
        }
}

// Pinned requests as lines with their letter on top, pinned bytes with theirs next to them.
function drawPins({ context, theme, unit, small }: Brush, { state }: Model, frame: Frame): void {
    const { view } = frame;
    context.font = small;
    state.pins.forEach((pin, i) => {
        context.fillStyle = theme.palette[3]!;
        if (pin.index !== null && pin.index >= view.from && pin.index <= view.to) {
            const x = Math.round(xOf(frame, pin.index + 0.5));
            context.fillRect(x - 1, TOP * unit, Math.max(2, 1.5 * unit), frame.tall);
            drawLetter(context, theme, pinLetter(i), x, (TOP + 7) * unit, 11 * unit, 13 * unit);
        }
        const range = pin.bytes,
            strip =
                range?.space === frame.space &&
                frame.strips.find((s) => range.last >= s.first && range.first <= s.last);
        if (!range || !strip) return;
        const [y, wide, high] = spanIn(strip, range, unit, frame.wide);
        context.globalAlpha = 0.5;
        context.fillRect(LEFT * unit, y, wide, high);
        context.globalAlpha = 1;
        drawLetter(context, theme, pinLetter(i), (LEFT - 8) * unit, y + high / 2, 11 * unit, 12 * unit);
    });
}

export function drawDrag({ context, theme }: Brush, { x, y, toX, toY }: Drag): void {
    context.strokeStyle = theme.emphasis;
    context.setLineDash([4, 3]);
    context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
    context.setLineDash([]);
}
