// Figures as ctascope describes them (src/report/figure.h): one component draws them all, with the
// table behind the plot. Figures of one group share a card, one at a time.
import { useMemo, useRef, useState } from "preact/hooks";
import { Boxes } from "./boxes";
import { bytes, count, percent, short, time } from "./format";
import { Heatmap, type Cell } from "./heatmap";
import { Plot, type Series } from "./plot";
import { savePicture, type Entry } from "./save-picture";
import { Table, type Column } from "./table";
import { useTheme, type Theme } from "./theme";

export type Unit = "number" | "count" | "bytes" | "fraction" | "ns";

export interface Axis {
    label: string | null;
    unit: Unit;
    log: boolean;
    low: number;
    high: number;
    categories?: (string | null)[];
}

export interface Box {
    low: number;
    first: number;
    median: number;
    third: number;
    high: number;
    mean: number;
    smallest: number;
    largest: number;
    count: number;
}

export interface FigureSeries {
    name: string | null;
    colour: number;
    line: boolean;
    dashed: boolean;
    values?: (number | null)[];
    deviations?: (number | null)[];
    boxes?: (Box | null)[];
}

export interface Figure {
    name: string;
    group: string;
    title: string;
    tab: string | null;
    says: string;
    source: string | null;
    kind: "lines" | "steps" | "points" | "bars" | "stacks" | "boxes" | "cells";
    x: Axis;
    y: Axis;
    x_values?: number[];
    series: FigureSeries[];
    columns?: number;
    rows?: number;
    bin_size?: number;
    id_count?: number;
    cell_unit?: Unit;
    cells?: number[];
}

const TABLE_ROWS = 1000;

// A value with all that it has to say (`exact`), or short enough for an axis.
export function textOf(unit: Unit, value: number | null | undefined, exact = false): string {
    if (value === null || value === undefined) return "–";
    switch (unit) {
        case "bytes":
            return bytes(value);
        case "fraction":
            return percent(value);
        case "ns":
            return time(value);
        default:
            return exact ? count(value) : short(Math.round(value * 1000) / 1000);
    }
}

function xText(figure: Figure, index: number): string {
    const names = figure.x.categories;
    return names ? (names[index] ?? "") : textOf(figure.x.unit, figure.x_values![index], true);
}

function SeriesTable({ figure }: { figure: Figure }) {
    const length = figure.x.categories?.length ?? figure.x_values!.length;
    const columns: Column[] = [{ title: figure.x.label ?? "", text: !!figure.x.categories }];
    for (const series of figure.series) {
        columns.push({ title: series.name ?? "" });
        if (series.deviations) columns.push({ title: "deviation" });
    }
    const rows = Array.from({ length: Math.min(length, TABLE_ROWS) }, (_, i) => [
        xText(figure, i),
        ...figure.series.flatMap((series) => {
            const value = textOf(figure.y.unit, series.values?.[i], true);
            return series.deviations ? [value, textOf(figure.y.unit, series.deviations[i], true)] : [value];
        }),
    ]);
    return <Table columns={columns} rows={rows} left={length - rows.length} />;
}

function BoxTable({ figure }: { figure: Figure }) {
    const text = (value: number) => textOf(figure.y.unit, value, true);
    const rows = figure.x.categories!.flatMap((name, i) =>
        figure.series.flatMap((series) => {
            const box = series.boxes![i];
            return box
                ? [
                      [
                          name,
                          series.name,
                          count(box.count),
                          text(box.smallest),
                          text(box.low),
                          text(box.first),
                          text(box.median),
                          text(box.third),
                          text(box.high),
                          text(box.largest),
                          text(box.mean),
                      ],
                  ]
                : [];
        }),
    );
    return (
        <Table
            columns={[
                { title: figure.x.label ?? "", text: true },
                { title: "", text: true },
                { title: "values" },
                { title: "least" },
                { title: "whisker" },
                { title: "1st quartile" },
                { title: "median" },
                { title: "3rd quartile" },
                { title: "whisker" },
                { title: "greatest" },
                { title: "mean" },
            ]}
            rows={rows.slice(0, TABLE_ROWS)}
            left={Math.max(0, rows.length - TABLE_ROWS)}
        />
    );
}

function binText(figure: Figure, bin: number): string {
    const size = figure.bin_size!;
    return size === 1 ? String(bin) : `${bin * size}–${Math.min((bin + 1) * size, figure.id_count!) - 1}`;
}

function cellsOf(figure: Figure): Cell[] {
    const flat = figure.cells!;
    return Array.from({ length: flat.length / 3 }, (_, i) => ({
        x: flat[3 * i],
        y: flat[3 * i + 1],
        value: flat[3 * i + 2],
    }));
}

function CellTable({ figure, cells }: { figure: Figure; cells: Cell[] }) {
    const largest = useMemo(() => [...cells].sort((a, b) => b.value - a.value), [cells]);
    return (
        <Table
            columns={[
                { title: figure.x.label ?? "" },
                { title: figure.y.label ?? "" },
                { title: figure.tab ?? "value" },
            ]}
            rows={largest
                .slice(0, TABLE_ROWS)
                .map((cell) => [
                    binText(figure, cell.x),
                    binText(figure, cell.y),
                    textOf(figure.cell_unit!, cell.value, true),
                ])}
            left={Math.max(0, largest.length - TABLE_ROWS)}
        />
    );
}

// Lines and marks that are the same would hide each other: they are one, with all their names.
function joined(all: Series[]): Series[] {
    const lines = new Map<string, Series>();
    for (const series of all) {
        const key = JSON.stringify([series.values, series.deviations ?? null, series.points, series.dashed]),
            same = lines.get(key);
        lines.set(key, same ? { ...same, label: `${same.label} = ${series.label}` } : series);
    }
    return [...lines.values()];
}

// What uPlot draws: a stack is drawn from its top down, each part over the sum of those below it.
function seriesOf(figure: Figure): Series[] {
    const plain = figure.series.map((series): Series => ({
        label: series.name ?? "",
        values: series.values!,
        colour: series.colour,
        points: figure.kind === "points" && !series.line,
        dashed: series.dashed,
        ...(series.deviations ? { deviations: series.deviations } : {}),
    }));
    if (figure.kind === "lines" || figure.kind === "steps" || figure.kind === "points") return joined(plain);
    if (figure.kind !== "stacks") return plain;
    const sums = plain[0].values.map(() => 0);
    return plain
        .map((series) => ({
            ...series,
            shown: series.values,
            values: series.values.map((value, i) => (sums[i] += value ?? 0)),
        }))
        .reverse();
}

function Drawing({ figure }: { figure: Figure }) {
    const series = useMemo(
        () => (figure.kind === "cells" || figure.kind === "boxes" ? [] : seriesOf(figure)),
        [figure],
    );
    const cells = useMemo(() => (figure.kind === "cells" ? cellsOf(figure) : []), [figure]);
    const x = useMemo(() => figure.x_values ?? figure.x.categories?.map((_, i) => i) ?? [], [figure]);
    if (figure.kind === "cells")
        return (
            <Heatmap
                columns={figure.columns!}
                rows={figure.rows!}
                cells={cells}
                xLabel={figure.x.label ?? ""}
                yLabel={figure.y.label ?? ""}
                binText={(bin) => binText(figure, bin)}
                valueText={(value) => textOf(figure.cell_unit!, value, true)}
            />
        );
    if (figure.kind === "boxes") return <Boxes figure={figure} valueText={(value) => textOf(figure.y.unit, value)} />;
    const kind = figure.kind === "stacks" ? "bars" : figure.kind === "points" ? "lines" : figure.kind;
    return (
        <Plot
            kind={kind}
            stacked={figure.kind === "stacks"}
            x={x}
            series={series}
            xLabel={figure.x.label ?? ""}
            yLabel={figure.y.label ?? ""}
            xLog={figure.x.log}
            yLog={figure.y.log}
            yRange={[figure.y.low, figure.kind === "steps" ? figure.y.high : figure.y.high * 1.05]}
            {...(figure.x.categories
                ? {
                      categories: figure.x.categories.length,
                      categoryLength: Math.max(...figure.x.categories.map((name) => name?.length ?? 0)),
                  }
                : {})}
            xBytes={figure.x.unit === "bytes"}
            yBytes={figure.y.unit === "bytes"}
            xWhole={figure.x.unit === "count"}
            yWhole={figure.y.unit === "count"}
            xText={(value) =>
                figure.x.categories
                    ? Number.isInteger(value)
                        ? (figure.x.categories[value] ?? "")
                        : ""
                    : textOf(figure.x.unit, value)
            }
            yText={(value) => textOf(figure.y.unit, value)}
        />
    );
}

function Numbers({ figure }: { figure: Figure }) {
    const cells = useMemo(() => (figure.kind === "cells" ? cellsOf(figure) : []), [figure]);
    if (figure.kind === "cells") return <CellTable figure={figure} cells={cells} />;
    return figure.kind === "boxes" ? <BoxTable figure={figure} /> : <SeriesTable figure={figure} />;
}

// What the colours of a figure mean, as its drawing has them.
function legendOf(figure: Figure, theme: Theme): Entry[] {
    if (figure.kind === "cells") return [{ name: "low to high (logarithmic scale)", colours: theme.heat }];
    const named = (name: string, colour: number) => ({ name, colours: [theme.palette[colour % theme.palette.length]] });
    if (figure.kind === "boxes") return figure.series.map((series) => named(series.name ?? "", series.colour));
    return seriesOf(figure).map((series) => named(series.label, series.colour));
}

export function FigureCard({ figures }: { figures: Figure[] }) {
    const [chosen, choose] = useState(0);
    const [open, setOpen] = useState(false);
    const card = useRef<HTMLElement>(null);
    const theme = useTheme();
    const figure = figures[Math.min(chosen, figures.length - 1)];
    const saved = () =>
        savePicture(figure.name, {
            title: figure.tab ? `${figure.title}: ${figure.tab}` : figure.title,
            caption: `${figure.says}${figure.source ? ` After ${figure.source}.` : ""}`,
            legend: legendOf(figure, theme),
            plot: card.current!.querySelector("canvas")!,
            place: card.current!,
        });
    // Opening the numbers leaves the drawing, and how it is zoomed, alone.
    const drawing = useMemo(() => <Drawing key={figure.name} figure={figure} />, [figure]);
    return (
        <section class="card" id={figure.group} data-figure={figure.name} ref={card}>
            <h2>{figure.title}</h2>
            <p class="soft">
                {figure.says}
                {figure.source && <span class="source"> After {figure.source}.</span>}
            </p>
            {figures.length > 1 && (
                <p class="tabs" role="tablist">
                    {figures.map((other, i) => (
                        <button role="tab" aria-selected={i === chosen} onClick={() => choose(i)}>
                            {other.tab ?? other.name}
                        </button>
                    ))}
                </p>
            )}
            {drawing}
            <button class="save" onClick={saved}>
                Save as PNG
            </button>
            <details onToggle={(event) => setOpen(event.currentTarget.open)}>
                <summary>Data</summary>
                {open && <Numbers figure={figure} />}
            </details>
        </section>
    );
}

// One card per group, in the order in which groups first appear.
export function FigureCards({ figures }: { figures: Figure[] }) {
    const groups = new Map<string, Figure[]>();
    for (const figure of figures) groups.set(figure.group, [...(groups.get(figure.group) ?? []), figure]);
    return (
        <>
            {[...groups.values()].map((group) => (
                <FigureCard figures={group} />
            ))}
        </>
    );
}
