// How long the page takes with a timeline of millions of events, in Chromium:
//     node bench/timeline-page.mjs CTASCOPE PATH_GENERATE DIRECTORY [EVENTS = 10000000]
// The first picture, and 60 turns of the wheel, in to single activities and out again: each until the
// browser has drawn it.
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, "../web/package.json"))("playwright-core");
const [ctascope, generate, directory, events = "10000000"] = process.argv.slice(2);
const trace = resolve(directory, "page-trace"),
    page_path = resolve(directory, "page.html");
mkdirSync(directory, { recursive: true });
rmSync(trace, { recursive: true, force: true });
execFileSync(generate, ["across", events, "8", trace]);
execFileSync(ctascope, ["report", join(trace, "traces.otf2"), "-o", page_path], { stdio: "ignore" });

const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const drawn = () =>
    page.evaluate(() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))));
let start = Date.now();
await page.goto(pathToFileURL(page_path).href);
const canvas = page.locator(".timeline canvas");
await canvas.waitFor();
await drawn();
const first = Date.now() - start,
    box = await canvas.boundingBox(),
    times = [];
await page.mouse.move(box.x + 700, box.y + 60);
for (let i = 0; i < 60; i++) {
    start = Date.now();
    await page.mouse.wheel(0, i < 40 ? -120 : 120);
    await drawn();
    times.push(Date.now() - start);
}
times.sort((a, b) => a - b);
const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
console.log(
    `${events} events, page of ${(statSync(page_path).size / 1e6).toFixed(1)} MB: first picture ${first} ms; ` +
        `a turn of the wheel ${times[30]} ms (median), ${times[56]} ms (95%), ${times[59]} ms (longest); ` +
        `heap ${heap.toFixed(0)} MB`,
);
await browser.close();
