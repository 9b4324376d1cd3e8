// The canvases of the report: as wide as their place, sharp on any screen. Sizes are in units, which are CSS
// pixels where letters have their ordinary size.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Theme } from "./theme";

// The width of the canvas' place, in units, and at least `least` and at most `most` of them.
export function useWidth(
    canvas: RefObject<HTMLCanvasElement>,
    theme: Theme,
    [least, first, most]: [number, number, number],
): number {
    const [width, setWidth] = useState(first);
    useEffect(() => {
        const element = canvas.current!.parentElement!;
        const observer = new ResizeObserver(() =>
            setWidth(Math.max(least, Math.min(element.clientWidth / theme.unit, most))),
        );
        observer.observe(element);
        return () => observer.disconnect();
    }, [theme.unit]);
    return width;
}

export interface Surface {
    context: CanvasRenderingContext2D;
    theme: Theme;
    width: number;
    height: number;
    ratio: number; // pixels of the screen per unit
}

export function surfaceOf(element: HTMLCanvasElement, theme: Theme, width: number, height: number): Surface {
    const ratio = (devicePixelRatio || 1) * theme.unit;
    element.width = width * ratio;
    element.height = height * ratio;
    const context = element.getContext("2d")!;
    context.scale(ratio, ratio);
    context.font = theme.plainFont;
    return { context, theme, width, height, ratio };
}

// Where the pointer is.
export const placeOf = (event: MouseEvent, { unit }: Theme) => ({ x: event.offsetX / unit, y: event.offsetY / unit });

// The names of both axes, around (x, y): the middle of the plot.
export function drawAxisNames({ context, height }: Surface, xName: string, yName: string, x: number, y: number): void {
    context.textAlign = "center";
    context.fillText(xName, x, height - 6);
    context.save();
    context.translate(12, y);
    context.rotate(-Math.PI / 2);
    context.fillText(yName, 0, 0);
    context.restore();
}
