// A canvas that fills its place: sharp on any screen, drawn once a frame at most, anew when what it
// shows, its size or the colours change. Sizes inside are in CSS pixels; `unit` is 1 where the page
// has its ordinary size and more on very large screens.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useTheme, type Theme } from "../theme";

export interface Brush {
    context: CanvasRenderingContext2D;
    width: number;
    height: number;
    unit: number;
    theme: Theme;
    mono: string; // font
    font: string;
    small: string;
}
export interface CanvasProps {
    label: string; // what it shows, in a sentence
    draw: (brush: Brush) => void;
    // Calls `draw` when what it shows changed; returns the end of that.
    redraw?: ((draw: () => void) => () => void) | undefined;
    height?: number | undefined; // else as its place
    onMove?: (x: number, y: number, event: MouseEvent) => void;
    onLeave?: () => void;
    onDown?: (x: number, y: number, event: MouseEvent) => void;
    onUp?: (x: number, y: number, event: MouseEvent) => void;
    onClick?: (x: number, y: number, event: MouseEvent) => void;
    onDouble?: (x: number, y: number) => void;
    onWheel?: (x: number, y: number, event: WheelEvent) => void;
    onKey?: (event: KeyboardEvent) => boolean; // true: done
    cursor?: string | undefined;
    class?: string | undefined;
}

export const unitOf = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 13;

// A brush on the cleared canvas, which has as many pixels as its place on the screen; null: it has none.
function brushOn(element: HTMLCanvasElement, theme: Theme): Brush | null {
    const width = element.clientWidth,
        height = element.clientHeight,
        ratio = devicePixelRatio || 1;
    const wide = Math.round(width * ratio),
        tall = Math.round(height * ratio);
    if (element.width !== wide) element.width = wide;
    if (element.height !== tall) element.height = tall;
    if (!width || !height) return null;
    const context = element.getContext("2d")!,
        unit = unitOf();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.globalAlpha = 1;
    context.lineWidth = 1;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const style = getComputedStyle(document.documentElement);
    const family = style.getPropertyValue("--font"),
        mono = style.getPropertyValue("--mono");
    const font = `${12 * unit}px ${family}`;
    context.font = font;
    return {
        context,
        width,
        height,
        unit,
        theme,
        font,
        small: `${10.5 * unit}px ${family}`,
        mono: `${11 * unit}px ${mono}`,
    };
}

export function Canvas(props: CanvasProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const theme = useTheme();
    const latest = useRef({ props, theme });
    const frame = useRef(0);
    latest.current = { props, theme };

    const paint = () => {
        frame.current = 0;
        const element = canvas.current,
            brush = element && brushOn(element, latest.current.theme);
        if (!brush) return;
        latest.current.props.draw(brush);
        element.dataset["drawn"] = String(Number(element.dataset["drawn"] ?? 0) + 1);
    };
    const schedule = () => {
        frame.current ||= requestAnimationFrame(paint);
    };
    useLayoutEffect(schedule);
    useEffect(() => {
        const element = canvas.current!;
        const observer = new ResizeObserver(schedule);
        observer.observe(element);
        const wheel = (event: WheelEvent) => latest.current.props.onWheel?.(event.offsetX, event.offsetY, event);
        element.addEventListener("wheel", wheel, { passive: false });
        return () => {
            observer.disconnect();
            element.removeEventListener("wheel", wheel);
            cancelAnimationFrame(frame.current);
            frame.current = 0;
        };
    }, []);
    const { redraw } = props;
    useEffect(() => redraw?.(schedule), [redraw]);

    // A press that leaves the canvas goes on: drags end where the button is let go.
    const down = (event: PointerEvent) => {
        const element = canvas.current!;
        if (event.button !== 0) return;
        element.setPointerCapture(event.pointerId);
        const start = { x: event.clientX, y: event.clientY };
        props.onDown?.(event.offsetX, event.offsetY, event);
        const up = (end: PointerEvent) => {
            element.removeEventListener("pointerup", up);
            element.removeEventListener("pointercancel", up);
            const now = latest.current.props;
            now.onUp?.(end.offsetX, end.offsetY, end);
            if (Math.hypot(end.clientX - start.x, end.clientY - start.y) < 4)
                now.onClick?.(end.offsetX, end.offsetY, end);
        };
        element.addEventListener("pointerup", up);
        element.addEventListener("pointercancel", up);
    };
    return (
        <canvas
            ref={canvas}
            class={props.class}
            role={props.onKey ? "application" : "img"}
            aria-label={props.label}
            aria-description={props.onKey ? "Keys: plus and minus zoom, arrows move, Home shows all" : undefined}
            tabIndex={props.onKey ? 0 : undefined}
            style={{
                cursor: props.cursor ?? "default",
                ...(props.height === undefined ? {} : { height: `${props.height}px` }),
            }}
            onPointerDown={down}
            onPointerMove={(event) => props.onMove?.(event.offsetX, event.offsetY, event)}
            onPointerLeave={() => props.onLeave?.()}
            onDblClick={(event) => props.onDouble?.(event.offsetX, event.offsetY)}
            onKeyDown={(event) => props.onKey?.(event) && (event.preventDefault(), event.stopPropagation())}
        />
    );
}

// A pin's letter, in a box around (x, y).
export function drawLetter(
    context: CanvasRenderingContext2D,
    theme: Theme,
    letter: string,
    x: number,
    y: number,
    wide: number,
    tall: number,
): void {
    context.fillStyle = theme.background;
    context.fillRect(x - wide / 2 + 1, y - tall / 2 + 1, wide - 2, tall - 2);
    context.fillStyle = theme.emphasis;
    context.textAlign = "center";
    context.fillText(letter, x, y + 0.5);
}
