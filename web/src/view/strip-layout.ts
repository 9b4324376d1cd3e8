// What the timeline strip draws of a row, in pixels: activities that are wide enough to be seen alone, and blocks of
// those that are not. A block has no name of one of them: it says how many it stands for.
import { counted, percent, shortName, time } from "../format";
import type { TimelineItem, TimelineRow } from "./source";

export interface Block {
    x: number;
    wide: number;
    row: number;
    isNarrow: boolean; // too narrow to be seen alone
    items: TimelineItem[]; // by start; more than one: they share their pixels
    text: string; // for the pointer
}

// From times to pixels; what lies outside of [left, right] is cut.
export interface Scale {
    xOf: (t: number) => number;
    left: number;
    right: number;
    least: number; // as narrow as an activity may be drawn
}

const itemText = (item: TimelineItem) =>
    `${item.kind === "launch" ? `#${item.id} ` : ""}${shortName(item.name)}, ${time(item.end - item.start)}` +
    (item.kind === "launch" && !item.recorded ? ", accesses not recorded" : "");

const NAMES_TOLD = 3;
function blockText(items: TimelineItem[]): string {
    if (items.length === 1) return itemText(items[0]);
    const counts = new Map<string, number>();
    for (const item of items) counts.set(shortName(item.name), (counts.get(shortName(item.name)) ?? 0) + 1);
    const names = [...counts].sort((a, b) => b[1] - a[1]),
        told = names.slice(0, NAMES_TOLD).map(([name, n]) => `${n} × ${name}`),
        launches = items.filter((item) => item.kind === "launch").length,
        more = names.length > NAMES_TOLD ? `, ${counted(names.length - NAMES_TOLD, "more name", "more names")}` : "";
    const what =
        launches === items.length
            ? counted(launches, "launch", "launches")
            : counted(items.length, "launch or copy", "launches and copies");
    return `${what}: ${told.join(", ")}${more}. Zoom in to tell them apart`;
}

export function blocksOf(items: TimelineItem[], row: number, { xOf, left, right, least }: Scale): Block[] {
    const blocks: Block[] = [];
    for (const item of items) {
        const a = Math.max(left, xOf(item.start)),
            b = Math.min(right, xOf(item.end));
        if (b < left || a > right) continue;
        const last = blocks[blocks.length - 1],
            isNarrow = b - a < least;
        // Narrow ones that touch become a block.
        if (last?.isNarrow && isNarrow && a <= last.x + last.wide) {
            last.items.push(item);
            last.wide = Math.max(last.wide, a + least - last.x);
            continue;
        }
        blocks.push({ x: a, wide: Math.max(b - a, least), row, isNarrow, items: [item], text: "" });
    }
    for (const block of blocks) block.text = blockText(block.items);
    return blocks;
}

// What a bin of a row with too many activities says.
export function binText(row: TimelineRow, bin: number, nameOf: (kernel: number) => string): string {
    const { count, busy, kernel } = row.bins![bin];
    if (!count && !busy) return "";
    return (
        `${counted(count, "launch or copy begins", "launches and copies begin")} here, ${percent(busy)} busy` +
        `${kernel >= 0 ? `, longest: ${shortName(nameOf(kernel))}` : ""}. Zoom in to tell them apart`
    );
}

// The launch of a block that is nearest to a place.
export function launchAt(block: Block, x: number, { xOf }: Scale): TimelineItem | null {
    const far = (item: TimelineItem) => Math.abs((xOf(item.start) + xOf(item.end)) / 2 - x);
    return block.items
        .filter((item) => item.kind === "launch")
        .reduce<TimelineItem | null>((best, item) => (best && far(best) <= far(item) ? best : item), null);
}
