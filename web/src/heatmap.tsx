// A matrix as cells of a canvas: the darker, the more. Cells hold what lies in them summed up;
// hover tells which ids and how much. Drag a rectangle or turn the wheel to zoom, double click to
// see everything again.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useTheme } from "./theme";

export interface Cell {
    x: number; // column
    y: number; // row
    value: number;
}

interface HeatmapProps {
    columns: number;
    rows: number;
    cells: Cell[];
    xLabel: string;
    yLabel: string;
    binText: (bin: number) => string;
    valueText: (value: number) => string;
}

interface View {
    x: number;
    y: number;
    columns: number;
    rows: number;
}

const LEFT = 92,
    BOTTOM = 44,
    TOP = 8,
    RIGHT = 8,
    SIDE_MAX = 512;

export function Heatmap(props: HeatmapProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const [hover, setHover] = useState("");
    const [width, setWidth] = useState(560);
    const [drag, setDrag] = useState<{ x: number; y: number; toX: number; toY: number } | null>(null);
    const whole = useMemo<View>(
        () => ({ x: 0, y: 0, columns: props.columns, rows: props.rows }),
        [props.columns, props.rows],
    );
    const [view, setView] = useState(whole);
    const values = useMemo(
        () => new Map(props.cells.map((cell) => [cell.y * props.columns + cell.x, cell.value])),
        [props.cells],
    );
    const most = useMemo(() => props.cells.reduce((highest, cell) => Math.max(highest, cell.value), 0), [props.cells]);
    // Cells are whole pixels, so that no seams show between them.
    const cellSize = Math.max(
        1,
        Math.floor(Math.min(width - LEFT - RIGHT, SIDE_MAX) / Math.max(view.columns, view.rows)),
    );
    const plotWidth = cellSize * view.columns,
        plotHeight = cellSize * view.rows;
    const height = plotHeight + TOP + BOTTOM;

    useEffect(() => {
        const element = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() =>
            setWidth(Math.max(240, Math.min(element.clientWidth / theme.unit, 720))),
        );
        observer.observe(element);
        return () => observer.disconnect();
    }, [theme.unit]);

    useEffect(() => {
        const element = canvas.current!;
        const ratio = (devicePixelRatio || 1) * theme.unit;
        element.width = width * ratio;
        element.height = height * ratio;
        const context = element.getContext("2d")!;
        context.scale(ratio, ratio);
        context.clearRect(0, 0, width, height);
        context.fillStyle = theme.background;
        context.fillRect(LEFT, TOP, plotWidth, plotHeight);
        for (const cell of props.cells) {
            const x = cell.x - view.x,
                y = cell.y - view.y;
            if (x < 0 || y < 0 || x >= view.columns || y >= view.rows) continue;
            // Logarithmic steps: small values beside large ones stay visible.
            const share = most <= 1 ? 1 : Math.log(1 + cell.value) / Math.log(1 + most);
            context.fillStyle = theme.heat[Math.min(theme.heat.length - 1, Math.floor(share * theme.heat.length))]!;
            context.fillRect(LEFT + x * cellSize, TOP + y * cellSize, cellSize, cellSize);
        }
        context.strokeStyle = theme.grid;
        context.strokeRect(LEFT, TOP, plotWidth, plotHeight);
        context.fillStyle = theme.text;
        context.font = theme.plainFont;
        for (const part of [0, 0.5, 1]) {
            const column = view.x + Math.round(part * (view.columns - 1)),
                row = view.y + Math.round(part * (view.rows - 1));
            context.textAlign = part === 0 ? "left" : part === 1 ? "right" : "center";
            context.fillText(props.binText(column), LEFT + part * plotWidth, height - BOTTOM + 16);
            context.textAlign = "right";
            context.fillText(
                props.binText(row),
                LEFT - 6,
                TOP + part * plotHeight + (part === 0 ? 10 : part === 1 ? 0 : 4),
            );
        }
        context.textAlign = "center";
        context.fillText(props.xLabel, LEFT + plotWidth / 2, height - 6);
        context.save();
        context.translate(12, TOP + plotHeight / 2);
        context.rotate(-Math.PI / 2);
        context.fillText(props.yLabel, 0, 0);
        context.restore();
        if (drag) {
            context.strokeStyle = theme.text;
            context.setLineDash([4, 3]);
            context.strokeRect(
                Math.min(drag.x, drag.toX),
                Math.min(drag.y, drag.toY),
                Math.abs(drag.toX - drag.x),
                Math.abs(drag.toY - drag.y),
            );
        }
    }, [props, theme, width, view, drag]);

    const columnAt = (x: number) => view.x + Math.floor((x - LEFT) / cellSize);
    const rowAt = (y: number) => view.y + Math.floor((y - TOP) / cellSize);
    const show = (x: number, y: number, columns: number, rows: number) => {
        const wide = Math.min(props.columns, Math.max(2, columns)),
            tall = Math.min(props.rows, Math.max(2, rows));
        setView({
            x: Math.max(0, Math.min(x, props.columns - wide)),
            y: Math.max(0, Math.min(y, props.rows - tall)),
            columns: wide,
            rows: tall,
        });
    };
    const move = (event: MouseEvent) => {
        if (drag) return setDrag({ ...drag, toX: event.offsetX / theme.unit, toY: event.offsetY / theme.unit });
        const x = columnAt(event.offsetX / theme.unit),
            y = rowAt(event.offsetY / theme.unit);
        if (
            event.offsetX / theme.unit < LEFT ||
            event.offsetY / theme.unit < TOP ||
            x >= view.x + view.columns ||
            y >= view.y + view.rows
        )
            return setHover("");
        setHover(
            `${props.xLabel} ${props.binText(x)} → ${props.yLabel} ${props.binText(y)}: ` +
                `${props.valueText(values.get(y * props.columns + x) ?? 0)}`,
        );
    };
    const up = () => {
        if (!drag) return;
        const x = columnAt(Math.min(drag.x, drag.toX)),
            y = rowAt(Math.min(drag.y, drag.toY));
        const toX = columnAt(Math.max(drag.x, drag.toX)),
            toY = rowAt(Math.max(drag.y, drag.toY));
        setDrag(null);
        if (toX > x && toY > y) show(Math.max(x, view.x), Math.max(y, view.y), toX - x + 1, toY - y + 1);
    };
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        const factor = event.deltaY > 0 ? 1.5 : 1 / 1.5;
        const columns = Math.round(view.columns * factor),
            rows = Math.round(view.rows * factor);
        const x = columnAt(event.offsetX / theme.unit),
            y = rowAt(event.offsetY / theme.unit);
        show(
            Math.round(x - ((x - view.x) * columns) / view.columns),
            Math.round(y - ((y - view.y) * rows) / view.rows),
            columns,
            rows,
        );
    };
    return (
        <div class="heatmap">
            <canvas
                ref={canvas}
                style={{ width: `${width * theme.unit}px`, height: `${height * theme.unit}px` }}
                onMouseMove={move}
                onWheel={wheel}
                onMouseDown={(event) =>
                    setDrag({
                        x: event.offsetX / theme.unit,
                        y: event.offsetY / theme.unit,
                        toX: event.offsetX / theme.unit,
                        toY: event.offsetY / theme.unit,
                    })
                }
                onMouseUp={up}
                onDblClick={() => setView(whole)}
                onMouseLeave={() => {
                    setHover("");
                    setDrag(null);
                }}
                role="img"
                aria-label={`${props.yLabel} against ${props.xLabel}`}
            />
            <p class="scale">
                low{" "}
                {theme.heat.map((colour) => (
                    <i style={{ background: colour }} />
                ))}{" "}
                high (logarithmic scale)
                {view !== whole && <button onClick={() => setView(whole)}>show everything</button>}
            </p>
            <p class="hover">{hover || "Point at a cell for its values. Drag a rectangle or scroll to zoom."}</p>
        </div>
    );
}
