// Opens a report in Chromium, light and dark, and compares what it shows with what `ctascope comm`
// says of the same run:
//     node check.mjs CTASCOPE RUN WORK_DIRECTORY
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { faint, unnamed } from "./view/access.mjs";
import { drawn, launchBrowser, pictureOf } from "./view/harness.mjs";

const [ctascope, run, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const report = join(work, "report.html");
execFileSync(ctascope, ["report", run, "-o", report], { stdio: "inherit" });
const access = JSON.parse(execFileSync(ctascope, ["access", run, "--format", "json"], { maxBuffer: 1 << 28 }));
const results = JSON.parse(execFileSync(ctascope, ["comm", run, "--format", "json"], { maxBuffer: 1 << 28 }));

const browser = await launchBrowser();

// Saves the picture of a card; what is written into it, in the order of writing.
async function savedPicture(page, name) {
    const card = page.locator(`[data-figure="${name}"]`);
    await page.evaluate(() => {
        const { prototype } = CanvasRenderingContext2D,
            fill = (window.plainFill ??= prototype.fillText);
        window.written = [];
        prototype.fillText = function (text, ...at) {
            window.written.push(String(text));
            return fill.call(this, text, ...at);
        };
    });
    // A busy browser sometimes does not tell of a download: then the button is pressed again.
    let file = null;
    while (!file) {
        const download = page.waitForEvent("download", { timeout: 20000 }).catch(() => null);
        await card.getByRole("button", { name: "Save as PNG" }).click();
        file = await download;
    }
    const bytes = readFileSync(await file.path());
    assert.equal(file.suggestedFilename(), `${name}.png`);
    assert.equal(bytes.toString("latin1", 1, 4), "PNG");
    const plot = await card
        .locator("canvas")
        .first()
        .evaluate((canvas) => [canvas.width, canvas.height]);
    assert.ok(bytes.readUInt32BE(16) > plot[0] && bytes.readUInt32BE(20) > plot[1] + 50, "no room for texts");
    return page.evaluate(() => window.written.join(" "));
}

// Title, legend and caption of each card are in its picture, and the colours of the plot.
async function picturesStandAlone(page) {
    for (const name of await page.locator("[data-figure]").evaluateAll((all) => all.map((one) => one.dataset.figure))) {
        const card = page.locator(`[data-figure="${name}"]`),
            written = await savedPicture(page, name),
            told = await card.evaluate((one) => ({
                title: one.querySelector("h2").innerText,
                caption: one.querySelector("p.soft").innerText,
                legend: [...one.querySelectorAll(".u-series:not(:first-child):not(.band) .u-label, .boxes .scale span")]
                    .map((label) => label.innerText.trim())
                    .filter(Boolean),
                scale: one.querySelector(".heatmap") ? ["low to high (logarithmic scale)"] : [],
            }));
        for (const part of [told.title, told.caption, ...told.legend, ...told.scale])
            assert.ok(written.includes(part), `${name}: '${part}' is not in '${written}'`);
        assert.ok(told.legend.length + told.scale.length > 0, name);
    }
}

const marks = async (canvas) => (await pictureOf(canvas)).marks;

const backgrounds = [];
for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    const trouble = [];
    page.on("pageerror", (error) => trouble.push(String(error)));
    page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
    page.on(
        "request",
        (request) =>
            request.url().startsWith("file:") ||
            request.url().startsWith("data:") ||
            trouble.push(`asked for ${request.url()}`),
    );
    await page.goto(pathToFileURL(report).href);
    await page.waitForSelector("[data-figure] .heatmap canvas");
    await drawn(page);

    const titles = await page.locator("h2").allTextContents();
    assert.ok(access.findings.length > 0); // a stencil's rows begin where they begin
    assert.deepEqual(titles, [
        "What to do first",
        "Between launches, copies and the host",
        "Kernels",
        "Kernel to kernel",
        "Transfer sizes",
        "Partners of a CTA",
        "Volume by launch",
        "Partners by launch",
        "CTA to CTA",
        "Communication by variable",
        "Communication by line",
        "Launches between write and read",
        "Bisection",
        "Strides of communicating accesses",
        "Origin of the data read",
        "Critical volume by launch",
        "Traffic per launch",
        "Traffic by number of partitions",
        "Estimated speed-up of the memory traffic",
        "Balance of work",
    ]);

    // Tiles and tables show the analysis' own numbers.
    const tiles = await page.locator(".tile b").allTextContents();
    assert.equal(tiles[0], String(results.launches.length));
    assert.equal(tiles[4].replaceAll(",", ""), String(results.totals.received_transfers));
    const share = results.totals.ratio_communicated_bytes / results.totals.ratio_written_bytes;
    assert.equal(tiles[3], `${(100 * share).toFixed(1)}%`);
    for (const summary of await page.locator("summary").all()) await summary.click();
    const sizes = await page
        .locator(".card", { hasText: "Transfer sizes" })
        .locator("details tbody tr")
        .evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)));
    const transfers = results.transfer_sizes.reduce((sum, entry) => sum + entry.transfers, 0);
    let sum = 0;
    assert.deepEqual(
        sizes.slice(1, -1).map((row) => row[1]),
        results.transfer_sizes.map((entry) => `${((100 * (sum += entry.transfers)) / transfers).toFixed(1)}%`),
    );

    // The report opens on the findings, the largest first, in the analysis' own words.
    const more = page.getByRole("button", { name: /more below 1%/ });
    if (await more.count()) await more.click();
    const findings = await page
        .locator(".card.findings .finding")
        .evaluateAll((cards) =>
            cards.map((card) => [
                card.querySelector("h3").firstChild.textContent,
                card.querySelector(".evidence").firstChild.textContent,
            ]),
        );
    const order = (finding) => (finding.fault ? Infinity : finding.waste);
    assert.deepEqual(
        findings,
        [...access.findings]
            .sort((a, b) => (order(a) === order(b) ? 0 : order(b) - order(a)))
            .map((finding) => [finding.finding, finding.evidence]),
    );
    assert.match(await page.locator(".missing code").textContent(), /^ctascope record --timeline -o RUN -- /);
    assert.deepEqual([...(await faint(page)), ...(await unnamed(page))], [], colorScheme);
    // The contents name every card and lead to it.
    const contents = page.getByRole("navigation", { name: "Contents" });
    assert.deepEqual(await contents.getByRole("button").allTextContents(), titles);
    await contents.getByRole("button", { name: "Balance of work" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Balance of work");
    assert.ok(await page.evaluate(() => scrollY > 1000));

    // Every plot has marks, axes and a legend; the page needs no horizontal scrolling.
    const plots = await page.locator(".uplot").count();
    assert.equal(plots, 14);
    assert.ok((await marks(page.locator(".boxes canvas"))) > 500, "no boxes");
    for (const canvas of await page.locator(".uplot canvas").all())
        assert.ok((await marks(canvas)) > 500, "an empty plot");
    const legends = await page.locator(".u-legend").allTextContents();
    assert.ok(legends[0].includes("in transfers up to this size") && legends[1].includes("incoming"));
    // Fits stand beside the points, and the papers' figures are named.
    assert.match(await page.locator("#partition-scaling .u-legend").textContent(), /off [\d.]+%/);
    assert.match(
        await page.locator("#partition-launches .soft").first().textContent(),
        /After Matz and Fröning 2019, figure 6\./,
    );
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "too wide");

    // The map tells what lies under the pointer: CTA 0 sends to itself in a stencil.
    const map = page.locator("[data-figure] .heatmap canvas");
    assert.ok((await marks(map)) > 100, "an empty map");
    await map.scrollIntoViewIfNeeded();
    await map.hover({ position: { x: 94, y: 10 } });
    await drawn(page);
    const told = await page.locator("[data-figure] .heatmap .hover").textContent();
    const expected = results.launch_pairs.length ? /writing CTA 0\S* → reading CTA 0\S*: (?!0 B)/ : /./;
    assert.match(told, expected);
    // Dragging a rectangle zooms, and the way back is there; the other tab shows the other measure.
    const labels = async () => (await pictureOf(map)).digest;
    const whole = await labels();
    const box = await map.boundingBox();
    await page.mouse.move(box.x + 95, box.y + 12);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 60);
    await page.mouse.up();
    while ((await labels()) === whole) await page.waitForTimeout(20);
    await page.getByRole("button", { name: "show everything" }).click();
    await page.getByRole("tab", { name: "transfers" }).click();
    await map.hover({ position: { x: 95, y: 11 } });
    await page.waitForFunction(() =>
        /: [\d,]+$/.test(document.querySelector("[data-figure] .heatmap .hover")?.textContent),
    );

    if (colorScheme === "light") await picturesStandAlone(page);
    backgrounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await page.screenshot({ path: join(work, `${colorScheme}.png`), fullPage: true });
    assert.deepEqual(trouble, []);
    await page.close();
}
assert.notEqual(backgrounds[0], backgrounds[1]);

// At 4K letters and column are larger, and plots with them.
const large = await browser.newPage({ viewport: { width: 3840, height: 2160 } });
await large.goto(pathToFileURL(report).href);
await large.waitForSelector("[data-figure] .heatmap canvas");
const sizes4k = await large.evaluate(() => ({
    letters: parseFloat(getComputedStyle(document.body).fontSize),
    column: document.querySelector("main").clientWidth,
    plot: document.querySelector(".uplot").clientHeight,
    wide: document.documentElement.scrollWidth,
}));
assert.ok(sizes4k.letters >= 24 && sizes4k.column >= 2400 && sizes4k.plot >= 400, JSON.stringify(sizes4k));
assert.ok(sizes4k.wide <= 3840);
// Cards grow with their letters: no legend sticks out of one.
const outside = await large
    .locator(".card .u-label, .card .scale span")
    .evaluateAll((names) =>
        names
            .filter((name) => name.getBoundingClientRect().right > name.closest(".card").getBoundingClientRect().right)
            .map((name) => name.innerText),
    );
assert.deepEqual(outside, []);
await large.close();

// One of a kind is told as one: the report again, with one of each in what it leaves out and lacks.
const alone = join(work, "alone.html"),
    [, head, text, tail] = /^([^]*<script[^>]*id="data"[^>]*>)([^]*?)(<\/script>[^]*)$/.exec(
        readFileSync(report, "utf8"),
    ),
    data = JSON.parse(text),
    long = data.figures.find(({ name }) => name === "comm-volume-by-launch");
const ROWS = 1000; // of a table (figure.tsx)
long.x_values = Array.from({ length: ROWS + 1 }, (_, i) => i);
for (const series of long.series) series.values = long.x_values.map(() => 1);
data.kernel_pairs_left_out = 1;
Object.assign(data.soundness, { lower_bound: true, unrecorded_launches: 1, dropped_accesses: 1, incomplete_files: 1 });
Object.assign(data.soundness, { skipped_instructions: 1, unordered_pairs: 1, unordered_transfers: 1 });
writeFileSync(alone, head + JSON.stringify(data).replaceAll("<", "\\u003c") + tail);
const single = await browser.newPage();
await single.goto(pathToFileURL(alone).href);
await single.waitForSelector("[data-figure] .heatmap canvas");
await single.locator(".card", { hasText: "Volume by launch" }).first().locator("summary").click();
await single
    .locator(".card details tbody tr")
    .nth(ROWS - 1)
    .waitFor();
const words = await single.evaluate(() => document.body.textContent);
const singular = ["more row is", "more pair is", "launch was", "access dropped", "access file is", "instruction could"];
for (const one of [...singular, "transfer between"]) assert.ok(words.includes(`1 ${one}`), `no '1 ${one}' in the page`);
assert.doesNotMatch(words, /(?<![\d,.])1 (more )?(rows|pairs|launches|accesses|transfers|instructions|files) /);
await single.close();

// The report's policy: its own script runs, no other does, and nothing is asked of anybody. A server
// stands by that counts who reaches it.
const reached = [];
const server = createServer((request, response) => {
    reached.push(request.url);
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.end("");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const elsewhere = `http://127.0.0.1:${server.address().port}`;
const refused = await browser.newPage();
await refused.goto(pathToFileURL(report).href);
await refused.waitForSelector("[data-figure] .heatmap canvas");
assert.deepEqual(
    await refused.evaluate(async (to) => {
        const directives = new Set();
        document.addEventListener("securitypolicyviolation", (event) => directives.add(event.effectiveDirective));
        const add = (name, values) => document.body.append(Object.assign(document.createElement(name), values));
        add("script", { textContent: "window.intruder = 1" });
        add("script", { src: `${to}/script` });
        add("img", { src: `${to}/image` });
        add("iframe", { src: `${to}/frame` });
        const failed = await fetch(`${to}/fetch`).then(
            () => false,
            () => true,
        );
        while (directives.size < 4) await new Promise((resolve) => setTimeout(resolve, 10));
        return { intruder: window.intruder ?? 0, failed, directives: [...directives].sort() };
    }, elsewhere),
    { intruder: 0, failed: true, directives: ["connect-src", "frame-src", "img-src", "script-src-elem"] },
);
assert.deepEqual(reached, []);
server.close();
await browser.close();
console.log("the page shows what the analysis says, in light and dark");
