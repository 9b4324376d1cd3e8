// How long the page of `ctascope view` takes with one large launch, in Chromium:
//     node bench/view-page.mjs CTASCOPE VIEW_GENERATE DIRECTORY [ACCESSES...]
// For each number of accesses: the time from opening the address to the first picture of requests
// (the server started before, the launch not yet read), then filters and zooms, each from the change
// until everything is drawn again; the page's memory and the server's greatest.
import { createRequire } from "node:module";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, "../web/package.json"))("playwright-core");
const [ctascope, generate, directory, ...sizes] = process.argv.slice(2);
const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
});

// In the page: does something, and says how many ms pass until canvases have been drawn anew and
// nothing is on its way.
const until = ([hash, first]) =>
    new Promise((done) => {
        const drawn = () => [...document.querySelectorAll(".pane canvas")].map((canvas) => canvas.dataset.drawn).join();
        const before = first ? "" : drawn(),
            start = first ? 0 : performance.now();
        let quiet = 0,
            since = 0;
        if (hash) location.hash = hash;
        const look = () => {
            const now = performance.now(),
                isQuiet = drawn() !== before && !window.asking && !document.querySelector(".busy.on, .pane .working");
            quiet = isQuiet ? quiet + 1 : 0;
            if (quiet === 1) since = now;
            // An answer may lead to the next question; nobody waits for the frames in which none came.
            if (quiet === 4 || now - start > 60000) done(since - start);
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });

async function measure(accesses) {
    const run = resolve(directory, "view-page.run");
    mkdirSync(directory, { recursive: true });
    rmSync(run, { recursive: true, force: true });
    execFileSync(generate, [run, String(accesses)]);
    const server = spawn(ctascope, ["view", run, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise((then) => server.stdout.once("data", (bytes) => then(bytes.toString().trim())));
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(() => {
        const fetch = window.fetch;
        window.asking = 0;
        window.fetch = (...question) => {
            window.asking++;
            return fetch(...question).finally(() => {
                window.asking--;
            });
        };
    });
    await page.goto(`${url}#launch=0&view=warps&second=addresses`, { waitUntil: "commit" });
    const first = await page.evaluate(until, [null, true]);
    const times = [],
        ctas = Math.floor(accesses / 1536),
        base = "#launch=0&view=warps&second=addresses";
    const table = 0x7f2000000000,
        values = 0x7f0000000000;
    for (let i = 0; i < 5; i++) {
        const at = Math.floor((ctas * i) / 6),
            size = 2 ** (24 - 3 * i),
            hex = (n) => `0x${n.toString(16)}`;
        for (const change of [
            `site=${i}`,
            `cta=${at}-${at + 50}`,
            `op=${i % 2 ? "store" : "load"}&warp=${i}`,
            `space=${i % 2 ? "shared" : "global"}`,
            `range=global:${hex(values + 4096 * i)}-${hex(values + 4096 * i + 65535)}`,
            `window=global:${hex(table + 65536 * i)}-${hex(table + 65536 * i + size - 1)}`,
        ])
            times.push(await page.evaluate(until, [`${base}&${change}`, false]));
    }
    times.sort((a, b) => a - b);
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]) / 1024;
    console.log(
        `${accesses} first ${first.toFixed(0)} median ${times[times.length >> 1].toFixed(0)} p95 ` +
            `${times[Math.floor(times.length * 0.95)].toFixed(0)} heap ${heap.toFixed(0)} server ` +
            `${peak.toFixed(0)}`,
    );
    await page.close();
    server.kill("SIGINT");
    await new Promise((then) => server.once("exit", then));
    rmSync(run, { recursive: true, force: true });
}

for (const accesses of sizes.length ? sizes.map(Number) : [150e3, 1e6, 3e6, 10e6, 100e6]) await measure(accesses);
await browser.close();
