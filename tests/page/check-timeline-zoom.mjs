// A run of thousands of waits, dense ones and rare ones: at every zoom the report's timeline shows
// the critical path in each column of pixels, and each column of a wait lane is as full as the time
// in it, counted from all single waits (`path --chrome`):
//     node check-timeline-zoom.mjs CTASCOPE PATH_GENERATE WORK_DIRECTORY
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { launchBrowser } from "./view/harness.mjs";

const [ctascope, generate, work] = process.argv.slice(2);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const report = join(work, "report.html"),
    chrome = join(work, "chrome.json"),
    archive = join(work, "archive", "traces.otf2");
execFileSync(generate, ["messages", "150000", "2", join(work, "archive")], { stdio: "ignore" });
execFileSync(ctascope, ["report", archive, "-o", report], { stdio: "ignore" });
execFileSync(ctascope, ["path", archive, "--chrome", chrome], { stdio: "ignore" });

// Each wait, in ns, by location.
const events = JSON.parse(readFileSync(chrome));
const pid = events.find((e) => e.name === "process_name" && e.args.name === "waits").pid,
    waits = new Map();
for (const e of events) {
    if (e.ph !== "X" || e.pid !== pid) continue;
    const from = Math.round(e.ts * 1000);
    waits.set(e.tid, waits.get(e.tid) ?? []);
    waits.get(e.tid).push([from, from + Math.round(e.dur * 1000)]);
}
assert.ok(
    [...waits.values()].some((list) => list.length > 2048),
    "too few waits for an overview",
);

const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
const trouble = [];
page.on("pageerror", (error) => trouble.push(String(error)));
page.setDefaultTimeout(1200000);
await page.goto(pathToFileURL(report).href);
const lanes = await page.evaluate(() => {
    const { timeline } = JSON.parse(document.getElementById("data").textContent);
    return {
        duration: timeline.duration,
        overviews: timeline.locations.map((l) => l.waits.chunks.some((c) => c.bins.length)),
        list: timeline.locations.map((l) => ({
            name: l.name,
            process: l.process,
            rows: Math.min(l.rows, 5),
            isEmpty: !l.rows && ![l, l.path, l.waits].some(({ chunks }) => chunks.length),
        })),
    };
});
assert.ok(
    lanes.list.some(({ isEmpty }) => isEmpty),
    "no empty lane is tested",
);
assert.ok(lanes.overviews.some(Boolean), "no overview is tested");
// As web/src/timeline.tsx places them.
const LABELS = 168,
    AXIS = 26,
    ROW = 13,
    PATH = 5,
    WAITS = 6,
    GAP = 8,
    HEADING = 16;
let y = AXIS;
lanes.list.forEach((lane, i) => {
    if (!i || lanes.list[i - 1].process !== lane.process) y += HEADING;
    lane.path = lane.waits = y;
    if (lane.isEmpty) return; // a lane without anything in it takes no room
    lane.waits = y + PATH + lane.rows * ROW;
    y = lane.waits + WAITS + GAP;
});
const colours = await page.evaluate(() =>
    ["--emphasis", "--alarm"].map((name) => {
        const context = document.createElement("canvas").getContext("2d");
        context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }),
);
// How many of `tall` rows from `top` have the colour, per column; a row may be a part of it. NaN where
// something else is, if `alone`.
const ink = (top, tall, colour, alone) =>
    page.locator(".timeline canvas").evaluate(
        (element, { top, tall, colour, alone, left }) => {
            const wide = element.width - left,
                { data } = element.getContext("2d").getImageData(left, top, wide, tall),
                full = [];
            for (let c = 0; c < wide; c++) {
                let sum = 0;
                for (let row = 0; row < tall; row++) {
                    const at = 4 * (row * wide + c);
                    if (colour.every((v, k) => Math.abs(v - data[at + k]) < 40)) sum += data[at + 3] / 255;
                    else if (alone && data[at + 3]) sum = NaN;
                }
                full.push(sum);
            }
            return full;
        },
        { top, tall, colour, alone, left: LABELS },
    );

let compared = 0;
for (let step = 0; step < 9; step++) {
    const span = Math.max(20000, Math.floor(lanes.duration / 3 ** step)),
        from = Math.floor((lanes.duration - span) / (step % 2 ? 2 : 3)),
        to = from + span;
    await page.evaluate((hash) => {
        location.hash = hash;
    }, `t=${from}-${to}`);
    const isDrawn = (wanted) =>
        page.evaluate((range) => {
            const { drawn } = document.querySelector(".timeline canvas").dataset;
            return drawn?.startsWith(range) && drawn.endsWith("whole");
        }, wanted);
    while (!(await isDrawn(`${from}-${to} `))) await page.waitForTimeout(20);
    // The path is somewhere in each column.
    const paths = await Promise.all(
        lanes.list.filter(({ isEmpty }) => !isEmpty).map((lane) => ink(lane.path, PATH - 1, colours[0])),
    );
    const bare = paths[0]
        .map((_, c) => Math.max(...paths.map((full) => full[c])))
        .flatMap((most, c) => (most < 0.9 ? [c] : []));
    assert.deepEqual(bare.slice(0, 5), [], `columns without the critical path from ${from} to ${to}`);
    // Waits fill as much of a column as of its time.
    for (const [index, lane] of lanes.list.entries()) {
        if (lane.isEmpty) continue;
        const list = waits.get(index) ?? [];
        const full = await ink(lane.waits, WAITS - 2, colours[1], true),
            wide = (to - from) / full.length;
        const counted = new Float64Array(full.length);
        for (const [a, b] of list)
            for (let c = Math.max(0, Math.floor((a - from) / wide)); c < full.length && from + c * wide < b; c++)
                counted[c] += Math.max(0, Math.min(b, from + (c + 1) * wide) - Math.max(a, from + c * wide));
        // An overview knows bins, not columns: five columns hold several of them.
        for (let c = 0; c + 5 <= full.length; c += 5) {
            if (full.slice(c, c + 5).some(Number.isNaN)) continue; // a line crosses
            const shown = full.slice(c, c + 5).reduce((a, b) => a + b, 0) / (5 * (WAITS - 2)),
                share = counted.slice(c, c + 5).reduce((a, b) => a + b, 0) / (5 * wide);
            const parts =
                [...counted.slice(c, c + 5)]
                    .map((ns) => (ns > 0 ? Math.max(ns / wide, 1 / (WAITS - 2)) : 0))
                    .reduce((a, b) => a + b, 0) / 5;
            assert.ok(
                shown >= share - 0.12 && shown <= parts + 0.22,
                `${lane.name} from ${from} to ${to}, column ${c}: ${shown} shown, ${share} of the time, ` +
                    `${parts} at least visible`,
            );
            if (share > 0.02) compared++;
        }
    }
}
assert.ok(compared > 200, `only ${compared} groups of columns hold waits`);
await browser.close();
assert.deepEqual(trouble, []);
console.log(`the path is at every zoom, and ${compared} groups of columns are as full as their waits`);
