// An allocation from end to end as two bands, reads above and writes below, and the window on it that
// the cells show: drag it, or click where to go.
import { useMemo, useRef } from "preact/hooks";
import { count } from "../format";
import { useAsk } from "./ask";
import { Canvas, type Brush } from "./canvas";
import type { Region } from "./address-grid";
import { marksOf, readColour, useModel, writeColour } from "./model";
import { most, strength } from "./paint";
import type { Density } from "./source";
import type { Range } from "./state";

const CELLS = 512;

// In so many parts of the region, the largest cell of each.
function coarse(data: Density, region: Range, cells: number): { reads: Float64Array; writes: Float64Array } {
    const reads = new Float64Array(cells),
        writes = new Float64Array(cells),
        size = region.last - region.first + 1;
    for (let i = 0; i < data.reads.length; i++) {
        if (!data.reads[i] && !data.writes[i]) continue;
        const from = data.first + i * data.cellBytes - region.first,
            to = Math.min(from + data.cellBytes, size) - 1;
        for (let c = Math.floor((from / size) * cells); c <= Math.floor((to / size) * cells); c++) {
            reads[c] = Math.max(reads[c], data.reads[i]);
            writes[c] = Math.max(writes[c], data.writes[i]);
        }
    }
    return { reads, writes };
}

// `whole`: the cells show all of it too: what they know, null while it is on its way.
export function AddressBand({
    region,
    window,
    whole,
}: {
    region: Region;
    window: Range;
    whole: Density | null | undefined;
}) {
    const model = useModel(),
        { launch, state } = model;
    const size = region.last - region.first + 1,
        cells = Math.min(CELLS, size);
    const asked = useAsk(
        `${launch.launch}|${region.space}|${region.first}`,
        whole === undefined ? `band|${region.last}|${JSON.stringify(state.filter)}` : null,
        (signal) =>
            model.source.density(launch.launch, state.filter, region.space, region.first, region.last, cells, signal),
    );
    const data = whole === undefined ? asked.data : whole;
    const bins = useMemo(() => data && coarse(data, region, cells), [data, cells]);
    const tops = useMemo(() => (bins ? { reads: most(bins.reads), writes: most(bins.writes) } : null), [bins]);
    const width = useRef(1),
        held = useRef<{ x: number; first: number } | null>(null);
    const draw = ({ context, width: wide, height, unit, theme }: Brush) => {
        width.current = wide;
        const middle = Math.round(height / 2),
            xOf = (byte: number) => ((byte - region.first) / size) * wide;
        context.fillStyle = theme.background;
        context.fillRect(0, 0, wide, height);
        if (bins && tops)
            for (let i = 0; i < cells; i++) {
                const x = Math.round((i / cells) * wide),
                    next = Math.max(x + 1, Math.round(((i + 1) / cells) * wide));
                const up = strength(bins.reads[i], tops.reads) * (middle - unit),
                    down = strength(bins.writes[i], tops.writes) * (height - middle - unit);
                context.fillStyle = readColour(theme);
                if (up) context.fillRect(x, middle - up, next - x, up);
                context.fillStyle = writeColour(theme);
                if (down) context.fillRect(x, middle + unit, next - x, down);
            }
        for (const mark of marksOf(model, region.space)) {
            if (mark.last < region.first || mark.first > region.last) continue;
            context.fillStyle = mark.kind === "pin" ? theme.palette[3] : theme.emphasis;
            context.fillRect(
                xOf(mark.first) - unit / 2,
                mark.kind === "hover" ? 0 : height - 5 * unit,
                Math.max(1.5 * unit, xOf(mark.last + 1) - xOf(mark.first)),
                mark.kind === "hover" ? height : 5 * unit,
            );
        }
        const a = xOf(window.first),
            b = Math.max(a + 3, xOf(window.last + 1));
        if (b - a < wide - 1) {
            context.fillStyle = theme.text;
            context.globalAlpha = 0.25;
            context.fillRect(0, 0, a, height);
            context.fillRect(b, 0, wide - b, height);
            context.globalAlpha = 1;
            context.strokeStyle = theme.emphasis;
            context.lineWidth = 1.5 * unit;
            context.strokeRect(a, 0.75 * unit, b - a, height - 1.5 * unit);
        }
    };
    const go = (first: number) => {
        const span = window.last - window.first,
            quantum = region.element * 16;
        const start =
            region.first + Math.floor(Math.max(0, Math.min(first - region.first, size - span - 1)) / quantum) * quantum;
        model.set({ window: { space: region.space, first: start, last: Math.min(region.last, start + span) } });
    };
    const touched = bins ? bins.reads.reduce((n, v, i) => n + (v || bins.writes[i] ? 1 : 0), 0) : 0;
    return (
        <div class="band">
            <Canvas
                label={`${region.name} from end to end: ${count(touched)} of ${count(cells)} parts touched`}
                draw={draw}
                redraw={(paint) => model.hover.watch(paint)}
                cursor="ew-resize"
                onDown={(x) => {
                    const byte = region.first + (x / width.current) * size;
                    if (byte < window.first || byte > window.last) go(byte - (window.last - window.first) / 2);
                    held.current = {
                        x,
                        first:
                            byte < window.first || byte > window.last
                                ? byte - (window.last - window.first) / 2
                                : window.first,
                    };
                }}
                onMove={(x) => held.current && go(held.current.first + ((x - held.current.x) / width.current) * size)}
                onUp={() => (held.current = null)}
            />
        </div>
    );
}
