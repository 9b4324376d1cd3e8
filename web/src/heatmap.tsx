// A matrix as cells of a canvas: the darker, the more. Cells hold what lies in them summed up;
// hover tells which ids and how much. Drag a rectangle or turn the wheel to zoom, double click to
// see everything again.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawAxisNames, placeOf, surfaceOf, useWidth, type Surface } from "./surface";
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

// The part of the matrix that is shown, and the pixels of the plot.
interface Frame {
    view: View;
    cellSize: number; // whole pixels, so that no seams show between cells
    plotWidth: number;
    plotHeight: number;
    height: number;
}

function frameOf(view: View, width: number): Frame {
    const cellSize = Math.max(
        1,
        Math.floor(Math.min(width - LEFT - RIGHT, SIDE_MAX) / Math.max(view.columns, view.rows)),
    );
    const plotHeight = cellSize * view.rows;
    return { view, cellSize, plotWidth: cellSize * view.columns, plotHeight, height: plotHeight + TOP + BOTTOM };
}
const columnAt = ({ view, cellSize }: Frame, x: number) => view.x + Math.floor((x - LEFT) / cellSize);
const rowAt = ({ view, cellSize }: Frame, y: number) => view.y + Math.floor((y - TOP) / cellSize);

function drawCells({ context, theme }: Surface, { view, cellSize, ...plot }: Frame, cells: Cell[], most: number): void {
    context.fillStyle = theme.background;
    context.fillRect(LEFT, TOP, plot.plotWidth, plot.plotHeight);
    for (const cell of cells) {
        const x = cell.x - view.x,
            y = cell.y - view.y;
        if (x < 0 || y < 0 || x >= view.columns || y >= view.rows) continue;
        // Logarithmic steps: small values next to large ones stay visible.
        const share = most <= 1 ? 1 : Math.log(1 + cell.value) / Math.log(1 + most);
        context.fillStyle = theme.heat[Math.min(theme.heat.length - 1, Math.floor(share * theme.heat.length))]!;
        context.fillRect(LEFT + x * cellSize, TOP + y * cellSize, cellSize, cellSize);
    }
    context.strokeStyle = theme.grid;
    context.strokeRect(LEFT, TOP, plot.plotWidth, plot.plotHeight);
}

// The ids of the first, the middle and the last column and row.
function drawAxes(surface: Surface, { view, plotWidth, plotHeight, height }: Frame, props: HeatmapProps): void {
    const { context, theme } = surface;
    context.fillStyle = theme.text;
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
    drawAxisNames(surface, props.xLabel, props.yLabel, LEFT + plotWidth / 2, TOP + plotHeight / 2);
}

interface Drag {
    x: number;
    y: number;
    toX: number;
    toY: number;
}
function drawDrag({ context, theme }: Surface, { x, y, toX, toY }: Drag): void {
    context.strokeStyle = theme.text;
    context.setLineDash([4, 3]);
    context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
}

// The view of at least 2 by 2 cells, inside the matrix, that is nearest to one that is asked for.
function viewOf({ x, y, columns, rows }: View, whole: View): View {
    const wide = Math.min(whole.columns, Math.max(2, columns)),
        tall = Math.min(whole.rows, Math.max(2, rows));
    return {
        x: Math.max(0, Math.min(x, whole.columns - wide)),
        y: Math.max(0, Math.min(y, whole.rows - tall)),
        columns: wide,
        rows: tall,
    };
}

// As many cells more or fewer as the factor says; those at (x, y) stay where they are.
function zoomed(frame: Frame, x: number, y: number, factor: number): View {
    const { view } = frame,
        columns = Math.round(view.columns * factor),
        rows = Math.round(view.rows * factor),
        column = columnAt(frame, x),
        row = rowAt(frame, y);
    return {
        x: Math.round(column - ((column - view.x) * columns) / view.columns),
        y: Math.round(row - ((row - view.y) * rows) / view.rows),
        columns,
        rows,
    };
}

// The cells under a rectangle; null: it is within one column or row.
function dragged(frame: Frame, drag: Drag): View | null {
    const { view } = frame,
        x = columnAt(frame, Math.min(drag.x, drag.toX)),
        y = rowAt(frame, Math.min(drag.y, drag.toY));
    const toX = columnAt(frame, Math.max(drag.x, drag.toX)),
        toY = rowAt(frame, Math.max(drag.y, drag.toY));
    if (toX <= x || toY <= y) return null;
    return { x: Math.max(x, view.x), y: Math.max(y, view.y), columns: toX - x + 1, rows: toY - y + 1 };
}

export function Heatmap(props: HeatmapProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const width = useWidth(canvas, theme, [240, 560, 720]);
    const [hover, setHover] = useState("");
    const [drag, setDrag] = useState<Drag | null>(null);
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
    const frame = frameOf(view, width),
        { height } = frame;

    useEffect(() => {
        const surface = surfaceOf(canvas.current!, theme, width, height);
        drawCells(surface, frame, props.cells, most);
        drawAxes(surface, frame, props);
        if (drag) drawDrag(surface, drag);
    }, [props, theme, width, view, drag]);

    const move = (event: MouseEvent) => {
        const place = placeOf(event, theme);
        if (drag) return setDrag({ ...drag, toX: place.x, toY: place.y });
        const x = columnAt(frame, place.x),
            y = rowAt(frame, place.y);
        if (place.x < LEFT || place.y < TOP || x >= view.x + view.columns || y >= view.y + view.rows)
            return setHover("");
        setHover(
            `${props.xLabel} ${props.binText(x)} → ${props.yLabel} ${props.binText(y)}: ` +
                `${props.valueText(values.get(y * props.columns + x) ?? 0)}`,
        );
    };
    const up = () => {
        const asked = drag && dragged(frame, drag);
        setDrag(null);
        if (asked) setView(viewOf(asked, whole));
    };
    const wheel = (event: WheelEvent) => {
        event.preventDefault();
        const { x, y } = placeOf(event, theme);
        setView(viewOf(zoomed(frame, x, y, event.deltaY > 0 ? 1.5 : 1 / 1.5), whole));
    };
    const down = (event: MouseEvent) => {
        const { x, y } = placeOf(event, theme);
        setDrag({ x, y, toX: x, toY: y });
    };
    return (
        <div class="heatmap">
            <canvas
                ref={canvas}
                style={{ width: `${width * theme.unit}px`, height: `${height * theme.unit}px` }}
                onMouseMove={move}
                onWheel={wheel}
                onMouseDown={down}
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
