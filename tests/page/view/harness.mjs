// What the page's tests share: the bundled demo page, served on loopback; Chromium; and ways to look
// at canvases. A console error or a request to elsewhere fails the test.
import { createRequire } from "node:module";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

export const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, "../../../web");
const require = createRequire(join(web, "package.json"));
const esbuild = require("esbuild");
const { chromium } = require("playwright-core");

export async function bundle(entry, format = "iife") {
    const made = await esbuild.build({
        entryPoints: [entry],
        bundle: true,
        write: false,
        outdir: "out",
        format,
        target: ["es2020"],
        jsx: "automatic",
        jsxImportSource: "preact",
        loader: { ".css": "css" },
        nodePaths: [join(web, "node_modules")],
        platform: format === "esm" ? "neutral" : "browser",
        logLevel: "warning",
    });
    const text = (ending) => made.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? "";
    return { script: text(".js"), style: text(".css") };
}

// A TypeScript module, imported into this process.
export async function load(entry) {
    const { script } = await bundle(entry, "esm");
    return import(`data:text/javascript;base64,${Buffer.from(script).toString("base64")}`);
}

// Serves the demo page; ends with the process.
export async function serveDemo() {
    const { script, style } = await bundle(join(here, "demo-page.ts"));
    const page = `<!doctype html><html lang="en"><head>
<meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>demo</title><link rel="icon" href="data:,">
<style>${style}</style></head><body><div id="page"></div>
<script>${script.replaceAll("</script", "<\\/script")}</script></body></html>`;
    const server = createServer((request, response) => {
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(request.url.endsWith(EMPTY) ? "" : page);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    server.unref();
    return `http://127.0.0.1:${server.address().port}/`;
}

// Chromium without windows takes three quarters of the CPU time of the other one.
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

// No check asks how fast a page is: only what hangs is ended; whoever writes a check hangs for less.
const HANGS_MS = Number(process.env.CTS_PAGE_HANGS_MS ?? 1200000);
export async function launchBrowser() {
    const browser = await chromium.launch({
        timeout: HANGS_MS,
        executablePath: CHROMIUM,
        args: [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ],
    });
    for (const name of ["newContext", "newPage"]) {
        const make = browser[name].bind(browser);
        browser[name] = async (...values) => {
            const made = await make(...values);
            made.setDefaultTimeout(HANGS_MS);
            return made;
        };
    }
    idleTabs.set(browser, []);
    return browser;
}

// What a key or the mouse does on the page is drawn before anything is asked.
export function drawBeforeAsking(page) {
    for (const [device, name] of [
        [page.keyboard, "press"],
        [page.keyboard, "type"],
        [page.mouse, "click"],
        [page.mouse, "wheel"],
        [page.mouse, "move"],
        [page.mouse, "up"],
    ]) {
        const act = device[name].bind(device);
        device[name] = async (...values) => (await act(...values), drawn(page));
    }
}

// Tabs of a browser that are not in use. A new tab is a new process, which compiles the page's script anew: half of
// what a short check takes. A tab that is used again keeps nothing of the page before but its process.
const idleTabs = new WeakMap();
const EMPTY = "empty"; // no page of the server's

async function newTab(browser, options) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: "light", ...options });
    const tab = { page, trouble: [], kept: Object.keys(options).length === 0 && idleTabs.has(browser) };
    page.on("pageerror", (error) => tab.trouble.push(String(error)));
    page.on("console", (message) => message.type() === "error" && tab.trouble.push(message.text()));
    drawBeforeAsking(page);
    page.on(
        "request",
        (request) =>
            /^(http:\/\/127\.0\.0\.1|file:|data:|blob:)/.test(request.url()) ||
            tab.trouble.push(`asked for ${request.url()}`),
    );
    return tab;
}

async function closeTab(browser, tab) {
    assert.deepEqual(tab.trouble, []);
    const { page } = tab;
    if (!tab.kept || !page.url().startsWith("http:")) return page.close();
    await page.evaluate(() => localStorage.clear());
    await page.mouse.move(0, 0);
    await page.goto(new URL(EMPTY, page.url()).href);
    idleTabs.get(browser).push(tab);
}

// A page whose errors are collected; `close` asserts that there were none.
export async function open(browser, address, options = {}) {
    const idle = Object.keys(options).length === 0 ? idleTabs.get(browser)?.pop() : undefined,
        tab = idle ?? (await newTab(browser, options)),
        { page } = tab;
    tab.trouble.length = 0; // an empty page's status is none
    await page.goto(address);
    await page.waitForSelector(".view .status");
    await settle(page);
    return { page, close: () => closeTab(browser, tab) };
}

// Waits until the page has drawn what it had been told: whatever waits for a frame or a timer of 0 ms is done.
export const drawn = (page) =>
    page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))),
    );

// Waits for a timer of the page, behind all those that the page set before to that time or less: however
// slow the machine is, they are over.
export const pageTimer = (page, ms) => page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), ms);

// Waits until nothing is on its way and canvases are drawn.
export async function settle(page, quiet = 120) {
    let before = "";
    for (let i = 0; i < 10000; i++) {
        await pageTimer(page, quiet / 2);
        await drawn(page);
        const now = await page.evaluate(
            () =>
                document.querySelectorAll(".working, .busy.on, body[aria-busy=true]").length +
                "|" +
                [...document.querySelectorAll("canvas")].map((c) => c.dataset.drawn).join(),
        );
        if (now === before && now.startsWith("0|")) return;
        before = now;
    }
}

// The colour of a canvas at a place in CSS pixels, as "r,g,b".
export const colourAt = (canvas, x, y) =>
    canvas.evaluate(
        (element, at) => {
            const ratio = element.width / element.clientWidth;
            return [
                ...element.getContext("2d").getImageData(Math.round(at.x * ratio), Math.round(at.y * ratio), 1, 1).data,
            ]
                .slice(0, 3)
                .join();
        },
        { x, y },
    );

// How many pixels of a canvas differ from its most frequent colour, and a digest of its first `most` pixels.
export const pictureOf = (canvas, most = Number.MAX_SAFE_INTEGER) =>
    canvas.evaluate((element, most) => {
        const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
        const pixels = new Uint32Array(data.buffer),
            counts = new Map();
        let digest = 0;
        for (const [i, pixel] of pixels.entries()) {
            counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
            if (i < most) digest = (Math.imul(digest, 31) + pixel) | 0;
        }
        return { marks: pixels.length - Math.max(...counts.values()), digest };
    }, most);

// How many pixels of a canvas, or of a part of it, have the colour.
export const pixelsOf = (canvas, colour, part = null) =>
    canvas.evaluate(
        (element, { colour, part }) => {
            const ratio = element.width / element.clientWidth;
            const [x, y, w, h] = part ? part.map((v) => Math.round(v * ratio)) : [0, 0, element.width, element.height];
            const { data } = element.getContext("2d").getImageData(x, y, w, h);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) if (`${data[i]},${data[i + 1]},${data[i + 2]}` === colour) count++;
            return count;
        },
        { colour, part },
    );

// The state in the URL, which follows a moment later.
export const stateOf = (page) =>
    pageTimer(page, 250).then(() =>
        page.evaluate(() =>
            Object.fromEntries(
                location.hash
                    .slice(1)
                    .split("&")
                    .filter(Boolean)
                    .map((field) => field.split("=").map(decodeURIComponent)),
            ),
        ),
    );

// An example compiled and recorded; the run directory.
export function record(ctascope, examples, work, name, args, options = []) {
    const program = join(work, name),
        run = join(work, `${name}.run`);
    execFileSync(
        join(here, "../../compiled.py"),
        [ctascope, "-O2", ...options, join(examples, `${name}.cu`), "-o", program],
        { stdio: ["ignore", "ignore", "inherit"] },
    );
    rmSync(run, { recursive: true, force: true });
    execFileSync(ctascope, ["record", ...options, "-o", run, "--", program, ...args], {
        stdio: ["ignore", "ignore", "pipe"],
    });
    return run;
}

// `ctascope view` until `end` is called; the address that it prints.
export async function serve(ctascope, ...runs) {
    const child = spawn(ctascope, ["view", ...runs, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
    const address = await new Promise((done, fail) => {
        let told = "";
        const see = (bytes) => {
            told += bytes;
            const found = /http:\/\/\S+\//.exec(told);
            if (found) done(found[0]);
        };
        child.stdout.on("data", see);
        child.stderr.on("data", see);
        child.on("exit", () => fail(new Error(told)));
    });
    process.on("exit", () => child.kill()); // also when a test fails
    return { address, end: () => child.kill() };
}

// A visit that has seen the tour.
export async function visit(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
    await context.addInitScript(() => localStorage.setItem("ctascope-tour", "seen"));
    return open({ newPage: () => context.newPage() }, address);
}
