// Box plots on a canvas: quartiles, whiskers up to 1.5 interquartile ranges, the extremes beyond as
// dots. Boxes of several series stand side by side in a category.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Box, Figure } from "./figure";
import { tickTexts } from "./format";
import { useTheme } from "./theme";

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

export function Boxes({ figure, valueText }: { figure: Figure; valueText: (value: number) => string }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const [width, setWidth] = useState(600);
    const [hover, setHover] = useState("");
    const names = figure.x.categories!;
    const low = figure.y.low,
        high = figure.y.high * 1.05;
    // Long names stand aslant; a few pixels a letter.
    const longest = Math.max(...names.map((name) => name?.length ?? 0)) * 7,
        aslant = longest * names.length > width - LEFT - RIGHT;
    const bottom = BOTTOM + (aslant ? Math.min(90, longest * 0.57) : 0);
    const plotWidth = width - LEFT - RIGHT,
        plotHeight = HEIGHT - TOP - bottom;
    const yOf = (value: number) => TOP + plotHeight * (1 - (value - low) / (high - low));
    const unit = plotWidth / names.length,
        slot = (0.8 * unit) / figure.series.length;

    useEffect(() => {
        const element = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth / theme.unit)));
        observer.observe(element);
        return () => observer.disconnect();
    }, [theme.unit]);

    useEffect(() => {
        const element = canvas.current!,
            ratio = (devicePixelRatio || 1) * theme.unit;
        element.width = width * ratio;
        element.height = HEIGHT * ratio;
        const context = element.getContext("2d")!;
        context.scale(ratio, ratio);
        context.font = theme.plainFont;
        context.strokeStyle = theme.grid;
        context.fillStyle = theme.text;
        const step = tickStep(high - low, figure.y.unit === "bytes");
        context.textAlign = "right";
        const ticks: number[] = [];
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
        context.fillText(figure.x.label ?? "", LEFT + plotWidth / 2, HEIGHT - 6);
        context.save();
        context.translate(12, TOP + plotHeight / 2);
        context.rotate(-Math.PI / 2);
        context.fillText(figure.y.label ?? "", 0, 0);
        context.restore();
        const draw = (box: Box, left: number, colour: string) => {
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
        };
        figure.series.forEach((series, s) =>
            series.boxes!.forEach((box, i) => {
                if (box)
                    draw(box, LEFT + unit * (i + 0.1) + slot * s, theme.palette[series.colour % theme.palette.length]);
            }),
        );
    }, [figure, theme, width]);

    const move = (event: MouseEvent) => {
        const i = Math.floor((event.offsetX / theme.unit - LEFT) / unit);
        const s = Math.floor((event.offsetX / theme.unit - LEFT - unit * (i + 0.1)) / slot);
        const box = figure.series[s]?.boxes?.[i];
        setHover(
            box
                ? `${names[i]}, ${figure.series[s].name}: median ${valueText(box.median)}, quartiles ` +
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
                        <i style={{ background: theme.palette[series.colour % theme.palette.length] }} />{" "}
                        {series.name}{" "}
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
