// Plots with axes, over uPlot: lines, steps and bars. A plot is drawn anew when its data, its width
// or the colour scheme changes.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { useTheme, type Theme } from "./theme";

export interface Series {
    label: string;
    values: (number | null)[];
    colour: keyof Theme["series"];
}

export interface PlotProps {
    kind: "line" | "step" | "bars";
    x: number[];
    xLabel: string;
    yLabel: string;
    xText: (value: number) => string;
    yText: (value: number) => string;
    series: Series[];
    xLog?: boolean;
    yLog?: boolean;
    yRange?: [number, number];
    yBytes?: boolean; // ticks at powers of two
    height?: number;
}

const BYTE_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

function pathOf(kind: PlotProps["kind"], index: number, count: number): uPlot.Series.PathBuilder {
    const paths = uPlot.paths;
    if (kind === "step") return paths.stepped!({ align: 1 });
    if (kind === "bars")
        // Bars of several series stand beside each other.
        return paths.bars!({ size: [0.8 / count, 60], align: (index === 0 && count > 1 ? -1 : count > 1 ? 1 : 0) as -1 | 0 | 1 });
    return paths.linear!();
}

export function Plot(props: PlotProps) {
    const holder = useRef<HTMLDivElement>(null);
    const theme = useTheme();
    useEffect(() => {
        const element = holder.current!;
        const axis = (label: string, text: (value: number) => string, inBytes = false): uPlot.Axis => ({
            label,
            ...(inBytes ? { incrs: BYTE_STEPS } : {}),
            stroke: theme.text,
            font: theme.font,
            labelFont: theme.font,
            labelSize: 22,
            size: label === props.yLabel ? 72 : 40,
            grid: { stroke: theme.grid, width: 1 },
            ticks: { stroke: theme.grid, width: 1 },
            values: (_: uPlot, splits: (number | null)[]) =>
                splits.map((value) => (value === null ? "" : text(value))),
        });
        const xs = props.x;
        const pad = props.kind === "bars" ? 0.6 : 0;
        const options: uPlot.Options = {
            width: element.clientWidth || 600,
            height: props.height ?? 280,
            scales: {
                x: props.xLog
                    ? { time: false, distr: 3, log: 2 }
                    : {
                          time: false,
                          range: (_, low, high) => [low - pad, high + pad],
                      },
                y: props.yLog
                    ? { distr: 3 }
                    : { range: props.yRange ?? ((_, __, high) => [0, high > 0 ? high * 1.05 : 1]) },
            },
            axes: [axis(props.xLabel, props.xText), axis(props.yLabel, props.yText, props.yBytes)],
            series: [
                { label: props.xLabel, value: (_, value) => (value === null ? "" : props.xText(value)) },
                ...props.series.map((series, index): uPlot.Series => ({
                    label: series.label,
                    stroke: theme.series[series.colour],
                    fill: props.kind === "bars" ? theme.series[series.colour] : undefined,
                    width: props.kind === "bars" ? 0 : 2,
                    points: { show: xs.length <= 60 && props.kind === "line", size: 6 },
                    paths: pathOf(props.kind, index, props.series.length),
                    value: (_, value) => (value === null ? "–" : props.yText(value)),
                })),
            ],
            cursor: { drag: { x: true, y: false } },
            legend: { live: true },
        };
        const plot = new uPlot(options, [xs, ...props.series.map((s) => s.values)], element);
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
