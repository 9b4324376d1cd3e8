// Plots with axes, over uPlot: lines, steps and bars. A plot is drawn anew when its data, its width
// or the colour scheme changes.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { tickTexts } from "./format";
import { useTheme, type Theme } from "./theme";

export interface Series {
    label: string;
    values: (number | null)[];
    colour: number; // in the theme's palette
    shown?: (number | null)[]; // what the legend tells in place of `values`: a part of a stack
    deviations?: (number | null)[]; // a band around the values
    points?: boolean; // marks without a line
    dashed?: boolean;
}

export interface PlotProps {
    kind: "lines" | "steps" | "bars";
    stacked?: boolean; // bars on top of each other: the values are sums already, the highest first
    x: number[];
    xLabel: string;
    yLabel: string;
    xText: (value: number) => string;
    categories?: number; // x are the names of so many; of what length at most:
    categoryLength?: number;
    yText: (value: number) => string;
    series: Series[];
    xLog?: boolean;
    yLog?: boolean;
    yRange?: [number, number];
    xBytes?: boolean; // ticks at powers of two
    yBytes?: boolean;
    xWhole?: boolean; // counts: no ticks between whole numbers
    yWhole?: boolean;
    height?: number;
}

const WHOLE_STEPS = Array.from({ length: 45 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
const BYTE_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

function pathOf(props: PlotProps, index: number): uPlot.Series.PathBuilder {
    const paths = uPlot.paths,
        count = props.series.length;
    if (props.kind === "steps") return paths.stepped!({ align: 1 });
    if (props.kind === "lines") return paths.linear!();
    if (props.stacked || count === 1) return paths.bars!({ size: [0.8, 60] });
    // Bars of several series stand beside each other; a width of a place each.
    const width = 0.8 / count;
    return (plot, series, from, to) => {
        const xs = plot.data[0],
            ys = plot.data[series],
            fill = new Path2D();
        const unit = Math.abs(plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true));
        const zero = plot.valToPos(plot.scales["y"].min!, "y", true);
        for (let i = from; i <= to; i++) {
            const value = ys[i];
            if (value === null || value === undefined) continue;
            const left = plot.valToPos(xs[i], "x", true) + unit * (width * (index - count / 2));
            const top = plot.valToPos(value, "y", true);
            fill.rect(left, top, Math.max(1, unit * width - 1), zero - top);
        }
        return { fill, stroke: null, flags: 0 };
    };
}

// The series of uPlot: those of the plot, and two hidden ones around each that has a band.
function seriesOf(
    props: PlotProps,
    theme: Theme,
): { series: uPlot.Series[]; values: (number | null)[][]; bands: uPlot.Band[] } {
    const series: uPlot.Series[] = [],
        values: (number | null)[][] = [],
        bands: uPlot.Band[] = [];
    const colour = (s: Series) => theme.palette[s.colour % theme.palette.length];
    props.series.forEach((s, index) => {
        series.push({
            label: s.label,
            stroke: colour(s),
            fill: props.kind === "bars" ? colour(s) : undefined,
            width: props.kind === "bars" || s.points ? 0 : 2,
            dash: s.dashed ? [6, 4] : undefined,
            points: {
                show: !!s.points || (props.x.length <= 60 && props.kind === "lines" && !s.dashed),
                size: 6,
                fill: colour(s),
            },
            paths: s.points ? () => null : pathOf(props, index),
            value: (_, value, __, i) => {
                const own = s.shown && i !== null && i !== undefined ? s.shown[i]! : value;
                if (i === null || i === undefined) return ""; // nothing is pointed at
                if (own === null || own === undefined) return "–";
                const deviation = s.deviations && i !== null && i !== undefined ? s.deviations[i] : null;
                return deviation ? `${props.yText(own)} ± ${props.yText(deviation)}` : props.yText(own);
            },
        });
        values.push(s.values);
    });
    for (const s of props.series) {
        if (!s.deviations) continue;
        const side = (sign: number) =>
            s.values.map((value, i) => (value === null ? null : Math.max(0, value + sign * (s.deviations![i] ?? 0))));
        bands.push({ series: [series.length + 1, series.length + 2], fill: `${colour(s)}30` });
        for (const sign of [1, -1]) {
            series.push({ label: "", stroke: "transparent", width: 0, points: { show: false }, class: "band" });
            values.push(side(sign));
        }
    }
    return { series, values, bands };
}

export function Plot(props: PlotProps) {
    const holder = useRef<HTMLDivElement>(null);
    const theme = useTheme();
    useEffect(() => {
        const element = holder.current!;
        const axis = (label: string, text: (value: number) => string, steps: number[] | null): uPlot.Axis => ({
            label,
            ...(steps ? { incrs: steps } : {}),
            stroke: theme.text,
            font: theme.font,
            labelFont: theme.font,
            labelSize: 22 * theme.unit,
            size: (label === props.yLabel ? 72 : 40) * theme.unit,
            grid: { stroke: theme.grid, width: 1 },
            ticks: { stroke: theme.grid, width: 1 },
            values: (_: uPlot, splits: (number | null)[]) => tickTexts(splits, text),
        });
        // Long names stand aslant; a few pixels a letter.
        const aslant = (props.categories ?? 0) * (props.categoryLength ?? 0) * 7 > (element.clientWidth || 600) - 120;
        const tall = Math.min(120, 30 + (props.categoryLength ?? 0) * 4.5);
        const parts = seriesOf(props, theme);
        const pad = props.kind === "bars" ? 0.6 : 0;
        const options: uPlot.Options = {
            width: element.clientWidth || 600,
            height: (props.height ?? 280) * theme.unit + (aslant ? tall - 40 : 0),
            scales: {
                x: props.xLog
                    ? { time: false, distr: 3, log: props.xBytes ? 2 : 10 }
                    : {
                          time: false,
                          range: (_, low, high) =>
                              props.categories ? [-pad, props.categories - 1 + pad] : [low - pad, high + pad],
                      },
                y: props.yLog
                    ? { distr: 3, log: props.yBytes ? 2 : 10, ...(props.yRange ? { range: props.yRange } : {}) }
                    : { range: props.yRange ?? ((_, __, high) => [0, high > 0 ? high * 1.05 : 1]) },
            },
            axes: [
                {
                    ...axis(props.xLabel, props.xText, props.xBytes ? BYTE_STEPS : props.xWhole ? WHOLE_STEPS : null),
                    ...(props.categories ? { splits: Array.from({ length: props.categories }, (_, i) => i) } : {}),
                    ...(aslant ? { rotate: -35, size: tall } : {}),
                },
                axis(props.yLabel, props.yText, props.yBytes ? BYTE_STEPS : props.yWhole ? WHOLE_STEPS : null),
            ],
            bands: parts.bands,
            series: [
                { label: props.xLabel, value: (_, value) => (value === null ? "" : props.xText(value)) },
                ...parts.series,
            ],
            ...(aslant ? { padding: [null, Math.min(90, tall), null, null] as uPlot.Padding } : {}),
            cursor: { drag: { x: true, y: false } },
            legend: { live: true },
        };
        const plot = new uPlot(options, [props.x, ...parts.values], element);
        const observer = new ResizeObserver(() => {
            const width = element.clientWidth;
            if (width && width !== plot.width) plot.setSize({ width, height: options.height });
        });
        observer.observe(element);
        return () => {
            observer.disconnect();
            plot.destroy();
        };
    }, [props, theme]);
    return <div class="plot" ref={holder} role="img" aria-label={`${props.yLabel} by ${props.xLabel}`} />;
}
