// Records the time and the memory of an example with several streams in one run, and compares what
// the report shows of its time with what `ctascope path` says:
//     node check-timeline.mjs CTASCOPE EXAMPLES WORK_DIRECTORY
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { drawn as frames, launchBrowser, load, pageTimer, pictureOf } from "./view/harness.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [ctascope, examples, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const binary = join(work, "pipeline"),
    run = join(work, "pipeline.run"),
    report = join(work, "report.html");
rmSync(run, { recursive: true, force: true });
execFileSync(join(here, "../compiled.py"), [ctascope, "-O2", join(examples, "pipeline.cu"), "-o", binary], {
    stdio: "inherit",
});
execFileSync(ctascope, ["record", "--timeline", "--memory", "-o", run, "--", binary], { stdio: "inherit" });
execFileSync(ctascope, ["report", run, "-o", report], { stdio: "inherit" });
const path = JSON.parse(execFileSync(ctascope, ["path", run, "--format", "json"], { maxBuffer: 1 << 28 }));
const terminal = execFileSync(ctascope, ["path", run]).toString().split("\n");
const format = await load(join(here, "../../web/src/format.ts"));

// Until the range of the address is drawn, with every chunk that belongs there.
const until = async (page, holds) => {
    while (!(await page.evaluate(holds))) await page.waitForTimeout(20);
};
const drawn = (page) => until(page, () => document.querySelector(".timeline canvas").dataset.drawn?.endsWith("whole"));
const settled = async (page) => {
    for (let before = ""; ;) {
        await pageTimer(page, 300); // the address follows a moment later, by a timer of the page
        await drawn(page);
        const now = await page.evaluate(
            () => `${location.hash} ${document.querySelector(".timeline canvas").dataset.drawn}`,
        );
        if (now === before) return;
        before = now;
    }
};
const browser = await launchBrowser();
for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    const trouble = [];
    page.on("pageerror", (error) => trouble.push(String(error)));
    page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
    page.on(
        "request",
        (request) => /^(file|data|blob):/.test(request.url()) || trouble.push(`asked for ${request.url()}`),
    );
    await page.goto(pathToFileURL(report).href);
    const canvas = page.locator(".timeline canvas");
    await canvas.waitFor();

    // Time comes first, memory after it.
    const titles = await page.locator("h2").allTextContents();
    assert.deepEqual(titles.slice(0, 3), ["What to do first", "Timeline", "Where to look first"]);
    assert.ok(titles.includes("Kernels") && titles.includes("Transfer sizes"));

    // Lists, sentences and notes are those of `path`, cell by cell.
    const cells = (title) =>
        page
            .locator(".card", { has: page.getByRole("heading", { name: title, exact: true }) })
            .locator("table")
            .evaluateAll((tables) =>
                tables.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))),
            );
    const { count, percent, rating, time } = format;
    const card = page.locator(".card", { hasText: "Where to look first" });
    const program = path.activities.filter((a) => !a.startup);
    const [activities] = await cells("Where to look first");
    const known = activities[0].includes("occup.");
    assert.deepEqual(
        activities.slice(1),
        program
            .slice(0, 200)
            .map((a) => [
                a.short_name,
                a.where,
                a.calls ? count(a.calls) : "-",
                a.inclusive_ns ? time(a.inclusive_ns) : "-",
                time(a.path_ns),
                percent(a.path_share),
                time(a.blame_ns),
                percent(a.blame_share),
                rating(a.rating),
                ...(known ? [percent(a.occupancy), percent(a.memory_efficiency)] : []),
            ]),
    );
    assert.ok(known, "the run has its kernels' registers and accesses");
    const [patterns, longest] = await cells("Wait states");
    assert.deepEqual(
        patterns.slice(1),
        path.patterns
            .filter((p) => p.count)
            .sort((a, b) => b.time_ns - a.time_ns)
            .map((p) => [p.pattern, count(p.count), time(p.time_ns), percent(p.share), time(p.longest_ns), p.meaning]),
    );
    assert.deepEqual(
        longest.slice(1),
        path.longest_waits.map((i) => [
            i.pattern,
            time(i.duration_ns),
            time(i.begin_ns),
            i.location,
            i.waits_for ?? "-",
            i.blamed ?? "-",
            i.blamed_short_name ?? "-",
        ]),
    );
    const [devices] = await cells("Devices");
    assert.deepEqual(
        devices.slice(1),
        path.devices.map((d) => [
            `rank ${d.rank}: device ${d.device}`,
            count(d.activities),
            time(d.startup_ns),
            time(d.span_ns),
            percent(d.idle_share),
            time(d.copy_ns),
            time(d.copy_missed_ns),
        ]),
    );
    const body = await page.locator("body").textContent();
    assert.ok(body.includes(path.summary.join(" ")));
    for (const { text, count: many } of path.warnings) assert.ok(body.includes(`${count(many)} ${text}`), text);
    // So does the terminal: the same titles, and rows with the same texts.
    const list = terminal
        .slice(terminal.findIndex((line) => line.startsWith("  Longest waits")) + 1)
        .map((line) => line.trim().split(/ {2,}/));
    assert.deepEqual(
        list[0],
        longest[0].filter((title) => title !== "waits for"),
    );
    for (const [i, row] of longest.slice(1).entries()) assert.deepEqual(list[i + 1].slice(0, 3), row.slice(0, 3));
    for (const [name, where, calls, inclusive, , share, , blame, rated] of activities.slice(1, 5))
        assert.ok(
            terminal.some(
                (line) =>
                    [name.slice(0, 10), where, calls, inclusive].every((text) => line.includes(text)) ||
                    [name.slice(0, 10), calls, share, blame, rated].every((text) => line.includes(text)),
            ),
            name,
        );
    assert.ok(terminal.join(" ").includes(path.summary[0]), "sentences");
    await card.getByRole("tab", { name: "blame" }).click();
    const blamed = [...program].sort((a, b) => b.blame_ns - a.blame_ns)[0];
    assert.equal(await card.locator("tbody td:first-child").first().textContent(), blamed.short_name);

    // A lane per location, with every colour that its activities have: pixels differ from bare ones.
    const picture = () => pictureOf(canvas, 100000);
    await drawn(page); // chunks are unpacked beside the drawing
    const whole = await picture();
    assert.ok(whole.marks > 5000, "an empty timeline");

    // The wheel zooms, and the address says to what; the way back is a button.
    await canvas.scrollIntoViewIfNeeded();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + 700, box.y + 60);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -200);
    await until(page, () => location.hash.startsWith("#t="));
    await settled(page);
    const hash = await page.evaluate(() => location.hash);
    const [, from, to] = /^#t=(\d+)-(\d+)$/.exec(hash).map(Number);
    assert.ok(from > 0 && to > from && to < path.path_ns, hash);
    assert.notEqual((await picture()).digest, whole.digest);
    await page.getByRole("button", { name: "everything" }).click();
    await settled(page);
    assert.equal((await picture()).digest, whole.digest);

    // Pointing at the first row of the first lane names what runs there; searching dims the rest.
    await page.mouse.move(box.x + 900, box.y + 38);
    await frames(page);
    const tip = (await page.locator(".tip").allTextContents()).join(""); // there is none over a gap
    if (tip) assert.ok(/, from .* to /.test(tip), tip);
    await page.getByRole("searchbox").fill("no such activity");
    while ((await picture()).digest === whole.digest) await page.waitForTimeout(20);
    await page.getByRole("searchbox").fill("");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "too wide");
    await page.screenshot({ path: join(work, `${colorScheme}.png`), fullPage: true });
    assert.deepEqual(trouble, []);
    await page.close();
}

// A link with a range opens at it.
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(1200000);
const half = Math.floor(path.path_ns / 2);
await page.goto(`${pathToFileURL(report).href}#t=0-${half}`);
await page.locator(".timeline canvas").waitFor();
await settled(page);
assert.equal(await page.evaluate(() => location.hash), `#t=0-${half}`);
// And it is what is seen, though the findings stand above it.
await page.waitForFunction(() => {
    const { top, bottom } = document.querySelector(".timeline canvas").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
});

// In a microsecond of a run of milliseconds, times under the pointer have the digits that tell pixels apart.
const close = await browser.newPage({ viewport: { width: 1280, height: 900 } });
close.setDefaultTimeout(1200000);
await close.goto(`${pathToFileURL(report).href}#t=${half}-${half + 1000}`);
await close.locator(".timeline canvas").waitFor();
await settled(close);
await close.locator(".timeline canvas").scrollIntoViewIfNeeded();
const area = await close.locator(".timeline canvas").boundingBox(),
    seen = [];
for (let y = 24; y < area.height; y += 4) {
    await close.mouse.move(area.x + 700, area.y + y);
    await frames(close);
    if (await close.locator(".tip").count()) seen.push(await close.locator(".tip").textContent());
}
assert.ok(
    seen.some((text) => /, from \d+\.\d{6,} m?s to \d+\.\d{6,} m?s/.test(text)),
    seen.join("; "),
);
await browser.close();
console.log("the timeline, the path and the waits are those of the analysis");
