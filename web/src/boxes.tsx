// Box plots on a canvas: quartiles, whiskers up to 1.5 interquartile ranges, the extremes beyond as
// dots. Boxes of several series stand side by side in a category.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Box, Figure } from "./figure";
import { tickTexts } from "./format";
import { drawAxisNames, placeOf, surfaceOf, useWidth, type Surface } from "./surface";
import { useTheme, type Theme } from "./theme";

const LEFT = 84,
    BOTTOM = 44,
    TOP = 10,
    RIGHT = 10,
    HEIGHT = 320,
    TICKS = 5;

function tickStep(span: number, bytes: boolean): number {
    const least = span / TICKS;
    if (bytes) return 2 ** Math.ceil(Math.log2(Math.max(least, 1)));
    const power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

// Where the plot has what, in units.
interface Layout {
    names: (string | null)[];
    aslant: boolean; // long names
    bottom: number;
    unit: number; // width of a category
    slot: number; // width of a box
    xOf: (category: number, series: number) => number; // left edge of a box
    yOf: (value: number) => number;
    low: number;
    high: number;
}

function layoutOf(figure: Figure, width: number): Layout {
    const names = figure.x.categories!,
        low = figure.y.low,
        high = figure.y.high * 1.05;
    // A few pixels a letter.
    const longest = Math.max(...names.map((name) => name?.length ?? 0)) * 7,
        aslant = longest * names.length > width - LEFT - RIGHT;
    const bottom = BOTTOM + (aslant ? Math.min(90, longest * 0.57) : 0);
    const unit = (width - LEFT - RIGHT) / names.length,
        slot = (0.8 * unit) / figure.series.length;
    return {
        names,
        aslant,
        bottom,
        unit,
        slot,
        xOf: (category, series) => LEFT + unit * (category + 0.1) + slot * series,
        yOf: (value) => TOP + (HEIGHT - TOP - bottom) * (1 - (value - low) / (high - low)),
        low,
        high,
    };
}

const colourOf = (theme: Theme, series: Figure["series"][number]) =>
    theme.palette[series.colour % theme.palette.length];

function drawAxes(surface: Surface, layout: Layout, figure: Figure, valueText: (value: number) => string): void {
    const { context, theme, width } = surface,
        { low, high, yOf, names, aslant, bottom, unit } = layout;
    context.strokeStyle = theme.grid;
    context.fillStyle = theme.text;
    context.textAlign = "right";
    const step = tickStep(high - low, figure.y.unit === "bytes"),
        ticks: number[] = [];
    for (let value = Math.ceil(low / step) * step; value <= high; value += step) ticks.push(value);
    const texts = tickTexts(ticks, valueText);
    ticks.forEach((value, i) => {
        context.beginPath();
        context.moveTo(LEFT, yOf(value));
        context.lineTo(width - RIGHT, yOf(value));
        context.stroke();
        context.fillText(texts[i], LEFT - 6, yOf(value) + 4);
    });
    context.textAlign = "center";
    names.forEach((name, i) => {
        context.save();
        context.translate(LEFT + unit * (i + 0.5), HEIGHT - bottom + 16);
        if (aslant) {
            context.rotate(-0.61);
            context.textAlign = "right";
        }
        context.fillText(name ?? "", 0, 0);
        context.restore();
    });
    const middle = { x: LEFT + (width - LEFT - RIGHT) / 2, y: TOP + (HEIGHT - TOP - bottom) / 2 };
    drawAxisNames(surface, figure.x.label ?? "", figure.y.label ?? "", middle.x, middle.y);
}

function drawBox({ context }: Surface, { slot, yOf }: Layout, box: Box, left: number, colour: string): void {
    const middle = left + slot / 2,
        inner = Math.max(2, 0.8 * slot);
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = 0.35;
    context.fillRect(middle - inner / 2, yOf(box.third), inner, yOf(box.first) - yOf(box.third));
    context.globalAlpha = 1;
    context.strokeRect(middle - inner / 2, yOf(box.third), inner, yOf(box.first) - yOf(box.third));
    context.beginPath();
    for (const [from, to] of [
        [box.first, box.low],
        [box.third, box.high],
    ] as const) {
        context.moveTo(middle, yOf(from));
        context.lineTo(middle, yOf(to));
        context.moveTo(middle - inner / 4, yOf(to));
        context.lineTo(middle + inner / 4, yOf(to));
    }
    context.stroke();
    context.fillRect(middle - inner / 2, yOf(box.median) - 1, inner, 2);
    for (const [value, whisker] of [
        [box.smallest, box.low],
        [box.largest, box.high],
    ] as const)
        if (value !== whisker) {
            context.beginPath();
            context.arc(middle, yOf(value), 2, 0, 2 * Math.PI);
            context.fill();
        }
}

export function Boxes({ figure, valueText }: { figure: Figure; valueText: (value: number) => string }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const width = useWidth(canvas, theme, [240, 600, Infinity]);
    const [hover, setHover] = useState("");
    const layout = layoutOf(figure, width);

    useEffect(() => {
        const surface = surfaceOf(canvas.current!, theme, width, HEIGHT);
        drawAxes(surface, layout, figure, valueText);
        figure.series.forEach((series, s) =>
            series.boxes!.forEach((box, i) => {
                if (box) drawBox(surface, layout, box, layout.xOf(i, s), colourOf(theme, series));
            }),
        );
    }, [figure, theme, width]);

    const move = (event: MouseEvent) => {
        const { x } = placeOf(event, theme),
            i = Math.floor((x - LEFT) / layout.unit),
            s = Math.floor((x - layout.xOf(i, 0)) / layout.slot);
        const box = figure.series[s]?.boxes?.[i];
        setHover(
            box
                ? `${layout.names[i]}, ${figure.series[s].name}: median ${valueText(box.median)}, quartiles ` +
                      `${valueText(box.first)} to ${valueText(box.third)}, ` +
                      `all ${valueText(box.smallest)} to ${valueText(box.largest)}`
                : "",
        );
    };
    return (
        <div class="boxes">
            <p class="scale">
                {figure.series.map((series) => (
                    <span>
                        <i style={{ background: colourOf(theme, series) }} /> {series.name}{" "}
                    </span>
                ))}
            </p>
            <canvas
                ref={canvas}
                style={{ width: `${width * theme.unit}px`, height: `${HEIGHT * theme.unit}px` }}
                onMouseMove={move}
                onMouseLeave={() => setHover("")}
                role="img"
                aria-label={`${figure.y.label ?? ""} by ${figure.x.label ?? ""}`}
            />
            <p class="hover">{hover || "Point at a box for its quartiles."}</p>
        </div>
    );
}
