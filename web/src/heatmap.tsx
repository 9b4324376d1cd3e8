// A matrix of writer CTA against reader CTA as cells of a canvas: the darker, the more. Cells
// hold what lies in them summed up; hover tells which CTAs and how much.
import { useEffect, useRef, useState } from "preact/hooks";
import { useTheme } from "./theme";

export interface Cell {
    x: number; // column: writer bin
    y: number; // row: reader bin
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

const LEFT = 92, BOTTOM = 44, TOP = 8, RIGHT = 8;

export function Heatmap(props: HeatmapProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const [hover, setHover] = useState("");
    const [width, setWidth] = useState(560);
    // Cells are whole pixels, so that no seams show between them.
    const cellSize = Math.max(1, Math.floor(Math.min(width - LEFT - RIGHT, 512) / Math.max(props.columns, props.rows)));
    const plotWidth = cellSize * props.columns, plotHeight = cellSize * props.rows;
    const height = plotHeight + TOP + BOTTOM;

    useEffect(() => {
        const element = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() => setWidth(Math.max(240, Math.min(element.clientWidth, 720))));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);

    useEffect(() => {
        const element = canvas.current!;
        const ratio = devicePixelRatio || 1;
        element.width = width * ratio;
        element.height = height * ratio;
        const context = element.getContext("2d")!;
        context.scale(ratio, ratio);
        context.clearRect(0, 0, width, height);
        context.fillStyle = theme.background;
        context.fillRect(LEFT, TOP, plotWidth, plotHeight);
        const most = props.cells.reduce((highest, cell) => Math.max(highest, cell.value), 0);
        for (const cell of props.cells) {
            // Logarithmic steps: small transfers beside large ones stay visible.
            const share = most <= 1 ? 1 : Math.log(1 + cell.value) / Math.log(1 + most);
            context.fillStyle = theme.heat[Math.min(theme.heat.length - 1, Math.floor(share * theme.heat.length))]!;
            context.fillRect(LEFT + cell.x * cellSize, TOP + cell.y * cellSize, cellSize, cellSize);
        }
        context.strokeStyle = theme.grid;
        context.strokeRect(LEFT, TOP, plotWidth, plotHeight);
        context.fillStyle = theme.text;
        context.font = theme.font;
        context.textAlign = "center";
        for (const part of [0, 0.5, 1]) {
            const column = Math.round(part * (props.columns - 1)), row = Math.round(part * (props.rows - 1));
            context.textAlign = part === 0 ? "left" : part === 1 ? "right" : "center";
            context.fillText(props.binText(column), LEFT + part * plotWidth, height - BOTTOM + 16);
            context.textAlign = "right";
            context.fillText(props.binText(row), LEFT - 6, TOP + part * plotHeight + (part === 0 ? 10 : part === 1 ? 0 : 4));
        }
        context.textAlign = "center";
        context.fillText(props.xLabel, LEFT + plotWidth / 2, height - 6);
        context.save();
        context.translate(12, TOP + plotHeight / 2);
        context.rotate(-Math.PI / 2);
        context.fillText(props.yLabel, 0, 0);
        context.restore();
    }, [props, theme, width]);

    const move = (event: MouseEvent) => {
        const x = Math.floor(((event.offsetX - LEFT) / plotWidth) * props.columns);
        const y = Math.floor(((event.offsetY - TOP) / plotHeight) * props.rows);
        if (x < 0 || y < 0 || x >= props.columns || y >= props.rows) return setHover("");
        const cell = props.cells.find((c) => c.x === x && c.y === y);
        setHover(`writer ${props.binText(x)} → reader ${props.binText(y)}: ${props.valueText(cell?.value ?? 0)}`);
    };
    return (
        <div class="heatmap">
            <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} onMouseMove={move}
                onMouseLeave={() => setHover("")} role="img" aria-label={`${props.yLabel} against ${props.xLabel}`} />
            <p class="scale">
                little {theme.heat.map((colour) => <i style={{ background: colour }} />)} much, in logarithmic steps
            </p>
            <p class="hover">{hover || "Point at a cell for its CTAs and bytes."}</p>
        </div>
    );
}
