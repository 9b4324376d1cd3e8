// The keyboard: arrows step through records, digits choose views, / searches, ? helps, Esc clears.
import { useEffect, useRef } from "preact/hooks";
import { counted, messageOf } from "./ask";
import type { Model } from "./model";
import { VIEWS } from "./state";
import { NO_FILTER, isFiltered, pinToggled } from "./state";

export const KEYS: [string, string][] = [
    ["1 … 9, 0", "choose the view"],
    ["↑ ↓  or  k j", "previous, next record that matches the filter"],
    ["← →", "previous, next lane"],
    ["p", "pin or unpin the selected record, lane or bytes"],
    ["w", "all accesses of this warp"],
    ["s", "show or hide the second pane"],
    ["/", "search launches, lines, variables, addresses"],
    ["[ ]", "previous, next launch"],
    ["+ − Home", "zoom in, zoom out, show all, in the timeline, map or order that has the focus (Tab); arrows move it"],
    ["Esc", "clear the selection, then the filter"],
    ["?", "this help"],
];

// Where the selected record stands, remembered from step to step so that a held key keeps pace.
interface Cursor {
    key: string;
    index: number;
    at: number;
}

async function step(model: Model, by: number, cursor: { current: Cursor | null }): Promise<void> {
    const { source, launch, state } = model,
        key = `${launch.launch}|${JSON.stringify(state.filter)}`;
    let at = -1;
    if (state.record !== null)
        at =
            cursor.current?.key === key && cursor.current.index === state.record
                ? cursor.current.at
                : await source.position(launch.launch, state.filter, state.record);
    const to = at < 0 ? 0 : at + by;
    if (to < 0) return;
    const records = await source.records(launch.launch, state.filter, to, 1);
    if (!records.index.length) return;
    cursor.current = { key, index: records.index[0], at: to };
    model.set({ record: records.index[0] });
}

export function togglePin(model: Model): void {
    const { record, lane, bytes, pins } = model.state;
    if (record !== null) model.set({ pins: pinToggled(pins, { index: record, lane }) });
    else if (bytes) model.set({ pins: pinToggled(pins, { bytes }) });
}

export function onlyThisWarp(model: Model): void {
    const one = model.selected;
    if (one) model.set({ filter: { ...NO_FILTER, ctas: [[one.cta, one.cta]], warps: [[one.warp, one.warp]] } });
}

async function neighbour(model: Model, by: -1 | 1): Promise<void> {
    try {
        const rows = await model.source.neighbours(model.launch.launch),
            at = rows.findIndex((row) => row.launch === model.launch.launch);
        const next = at < 0 ? undefined : rows[at + by];
        if (next) model.openLaunch(next.launch);
    } catch (error) {
        model.say(messageOf(error));
    }
}
export { neighbour as openNeighbour };

// What a key asks of a picture that can be zoomed and moved: by which factor, how many quarters right and down.
export function zoomOf({
    key,
    ctrlKey,
    metaKey,
    altKey,
}: KeyboardEvent): { all: boolean; factor: number; right: number; down: number } | null {
    const asked = {
        all: key === "Home",
        factor: key === "+" || key === "=" ? 0.5 : key === "-" ? 2 : 1,
        right: key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0,
        down: key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0,
    };
    const other = ctrlKey || metaKey || altKey || (!asked.all && asked.factor === 1 && !asked.right && !asked.down);
    return other ? null : asked;
}

export function useKeys(
    model: Model | null,
    overlay: string | null,
    setOverlay: (overlay: "help" | null) => void,
): void {
    const latest = useRef({ model, overlay });
    latest.current = { model, overlay };
    const cursor = useRef<Cursor | null>(null),
        stepping = useRef<Promise<void> | null>(null);
    useEffect(() => {
        const press = (event: KeyboardEvent) => {
            const { model: now, overlay: open } = latest.current;
            if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
            const target = event.target as HTMLElement;
            if (open || target.closest?.("input, select, textarea, [role=listbox], dialog")) return;
            const { state } = now,
                view = "1234567890".indexOf(event.key);
            const move = (by: number) => {
                stepping.current ??= counted(step(now, by, cursor))
                    .catch((error) => now.say(messageOf(error)))
                    .finally(() => (stepping.current = null));
            };
            switch (event.key) {
                case "ArrowDown":
                case "j":
                    move(1);
                    break;
                case "ArrowUp":
                case "k":
                    move(-1);
                    break;
                case "ArrowRight":
                    if (state.record !== null)
                        now.set({ lane: state.lane === null ? 0 : Math.min(31, state.lane + 1) });
                    break;
                case "ArrowLeft":
                    if (state.record !== null)
                        now.set({ lane: state.lane === null ? 31 : Math.max(0, state.lane - 1) });
                    break;
                case "p":
                    togglePin(now);
                    break;
                case "w":
                    onlyThisWarp(now);
                    break;
                case "s":
                    now.set({ second: state.second ? null : state.view === "addresses" ? "warps" : "addresses" });
                    break;
                case "/":
                    document.querySelector<HTMLInputElement>(".search input")?.focus();
                    break;
                case "[":
                    void neighbour(now, -1);
                    break;
                case "]":
                    void neighbour(now, 1);
                    break;
                case "?":
                    setOverlay("help");
                    break;
                case "Escape":
                    if (state.record !== null || state.bytes) now.set({ record: null, lane: null, bytes: null });
                    else if (isFiltered(state.filter)) now.set({ filter: NO_FILTER });
                    break;
                default:
                    if (view < 0) return;
                    now.set({ view: VIEWS[view], ...(state.second === VIEWS[view] ? { second: state.view } : {}) });
            }
            event.preventDefault();
        };
        addEventListener("keydown", press);
        return () => removeEventListener("keydown", press);
    }, []);
}
