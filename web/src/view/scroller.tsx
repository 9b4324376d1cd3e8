// Rows without end: a canvas that draws the rows in sight, and a scroll bar beside it. A browser's
// own scrolling ends at some 30 million pixels, so the bar is a scale of it where there are more.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const TALLEST = 4_000_000; // pixels

export interface Rows {
    top: number; // the first row in sight, with a fraction
    shown: number; // whole rows that fit
}

export function Scroller({
    total,
    rowHeight,
    head,
    goTo,
    children,
}: {
    total: number;
    rowHeight: number;
    head: number; // height above the rows
    goTo: { row: number; round: number } | null; // to bring into sight
    children: (rows: Rows) => ComponentChildren;
}) {
    const bar = useRef<HTMLDivElement>(null),
        place = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0),
        [height, setHeight] = useState(0);
    const inside = Math.max(0, height - head),
        shown = Math.max(1, Math.floor(inside / rowHeight));
    const highest = Math.max(0, total - shown),
        tall = Math.min(TALLEST, total * rowHeight);
    const scale = highest > 0 ? Math.max(1, tall - shown * rowHeight) / highest : 0; // pixels of the bar for a row
    const ours = useRef(-1);
    const at = Math.min(top, highest);

    useEffect(() => {
        const observer = new ResizeObserver(() => setHeight(place.current!.clientHeight));
        observer.observe(place.current!);
        return () => observer.disconnect();
    }, []);
    const move = (row: number) => {
        const next = Math.max(0, Math.min(highest, row));
        setTop(next);
    };
    // The bar follows the rows, and the rows the bar when a person moved it.
    useLayoutEffect(() => {
        if (!bar.current) return;
        const want = Math.round(at * scale);
        if (Math.abs(bar.current.scrollTop - want) < 1) return;
        bar.current.scrollTop = want;
        ours.current = bar.current.scrollTop;
    }, [at, scale, height]);
    useEffect(() => {
        if (goTo && height && (goTo.row < at || goTo.row >= Math.floor(at) + shown))
            move(goTo.row - Math.floor(shown / 2));
    }, [goTo?.row, goTo?.round, height > 0]);
    const wheel = useRef((_: WheelEvent) => undefined as void);
    wheel.current = (event: WheelEvent) => {
        if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
        event.preventDefault();
        const pixels =
            event.deltaMode === 1
                ? event.deltaY * rowHeight
                : event.deltaMode === 2
                  ? event.deltaY * inside
                  : event.deltaY;
        move(Math.round(at + (Math.abs(pixels) < rowHeight ? Math.sign(pixels) : pixels / rowHeight)));
    };
    useEffect(() => {
        const element = place.current!,
            turn = (event: WheelEvent) => wheel.current(event);
        element.addEventListener("wheel", turn, { passive: false });
        return () => element.removeEventListener("wheel", turn);
    }, []);
    return (
        <div class="scroller" ref={place}>
            <div class="rows">{height > 0 && children({ top: Math.floor(at), shown: shown + 1 })}</div>
            {total > shown && (
                <div
                    class="scrollbar"
                    ref={bar}
                    tabIndex={-1}
                    style={{ marginTop: `${head}px` }}
                    onScroll={(event) => {
                        const now = event.currentTarget.scrollTop;
                        if (now === ours.current || !scale) return;
                        ours.current = now;
                        setTop(Math.round(now / scale));
                    }}
                >
                    <div style={{ height: `${tall + (inside - shown * rowHeight)}px` }} />
                </div>
            )}
        </div>
    );
}
