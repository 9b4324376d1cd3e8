// The page in a real browser over the demo source (demo.ts), whose accesses are closed forms: every
// view shows what they say, at the place where they say it.
//     node check-view.mjs PART[,PART...] WORK_DIRECTORY, parts of those below, in one browser
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { faint, unnamed } from "./access.mjs";
import {
    colourAt,
    drawBeforeAsking,
    launchBrowser,
    open,
    pageTimer,
    pixelsOf,
    serveDemo,
    settle,
    stateOf,
} from "./harness.mjs";

const [chosen, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const base = await serveDemo(),
    browser = await launchBrowser();
const LOAD = "0,114,178",
    STORE = "213,94,0",
    ATOMIC = "170,68,153",
    ALARM = "204,31,47"; // of the light palette
const IN = 0x7f0000000000,
    OUT = 0x7f0000100000,
    hex = (n) => `0x${n.toString(16)}`;
const show = (hash, options, query = "") => open(browser, `${base}?${query}#${hash}`, options);
const pane = (page, name) => page.locator(`.pane[data-view=${name}]`);
const canvasOf = (page, name) => pane(page, name).locator("canvas").last();
const text = (locator) => locator.innerText().then((t) => t.replace(/\s+/g, " "));

// Where the lanes of the Warps view begin, and the middle of a row: found by their colours.
async function lanesOf(page) {
    const canvas = canvasOf(page, "warps");
    const found = await canvas.evaluate(
        (element, wanted) => {
            const ratio = element.width / element.clientWidth,
                y = Math.round(32 * ratio),
                { data } = element.getContext("2d").getImageData(0, y, element.width, 1);
            const starts = [];
            let inside = false;
            for (let x = 0; x < element.width; x++) {
                const is = wanted.includes(`${data[4 * x]},${data[4 * x + 1]},${data[4 * x + 2]}`);
                if (is && !inside) starts.push(x / ratio);
                inside = is;
            }
            return starts;
        },
        [LOAD, STORE, ATOMIC],
    );
    return { canvas, left: found[0], cell: found[1] - found[0], count: found.length, y: (row) => 22 + 20 * row + 10 };
}

const titlesOf = (page) => page.locator(".finding h3").allInnerTexts();

// Warps: a load and a store of all lanes in turn, 4 and 32 sectors.
async function warpsAndMap() {
    const { page, close } = await show("launch=0");
    assert.equal(await text(page.locator(".picker code")), "transpose_naive");
    assert.match(await text(pane(page, "warps").locator(".head")), /^4,096 requests/);
    const lanes = await lanesOf(page);
    assert.equal(lanes.count, 32);
    for (const lane of [0, 15, 31]) {
        const x = lanes.left + lane * lanes.cell + lanes.cell / 2 - 1;
        assert.equal(await colourAt(lanes.canvas, x, lanes.y(0)), LOAD);
        assert.equal(await colourAt(lanes.canvas, x, lanes.y(1)), STORE);
    }
    assert.match(
        await lanes.canvas.getAttribute("aria-label"),
        /^4,096 requests, from row 0: record 0: load 4 B, global, CTA 0, warp 0, demo.cu:19/,
    );
    // The address map: both matrices, read and written in full.
    assert.deepEqual(await pane(page, "addresses").locator(".allocations li code").allTextContents(), [
        "float *d_in",
        "float *d_out",
    ]);
    const map = canvasOf(page, "addresses");
    assert.match(await map.getAttribute("aria-label"), /^d_out: /); // it wastes most
    assert.ok((await pixelsOf(map, STORE)) > 20000 && (await pixelsOf(map, LOAD)) === 0);
    await pane(page, "addresses").locator(".allocations li button").nth(0).click();
    await settle(page);
    assert.ok((await pixelsOf(map, LOAD)) > 20000 && (await pixelsOf(map, STORE)) === 0);
    // Groups: the line, its bytes and efficiency: 8 of 36 sectors would do.
    assert.match(await text(page.locator(".grouplist li").first()), /^line 19 131k 22% out\[x/);
    await close();
}

// A histogram's last warps have half of their lanes; all counters are touched by all warps.
async function conflictsOfCounters() {
    const { page, close } = await show("launch=4&view=conflicts&second=none");
    assert.match(await text(pane(page, "conflicts").locator(".head")), /^16 ranges of bytes/);
    const first = pane(page, "conflicts").locator("tbody tr").first();
    assert.match(await text(first), /d_counts\[0\] 4 B 256 256 atomics 480/);
    await first.locator("button").first().click();
    assert.match(
        await text(pane(page, "conflicts").locator(".touches li").first()),
        /atomic add by CTA 0, warp 0, lane 0/,
    );
    // What races, the findings say, which know the barriers.
    assert.equal(await pane(page, "conflicts").getByRole("radio", { name: "possible races" }).count(), 0);
    await close();
}

// Banks: 32 words of bank 0; padded, a word of each.
async function banksSideBySide() {
    const { page, close } = await show("launch=1&view=banks&record=8&compare=this:2:8&second=none");
    assert.deepEqual(await pane(page, "banks").locator(".verdict").allTextContents(), [
        "32-way conflict 32 wavefronts, ideal: 1",
        "no conflict 1 wavefront, ideal: 1",
    ]);
    const [naive, padded] = await pane(page, "banks").locator("canvas").all();
    const cell = await naive.evaluate((element) =>
        Math.max(6, Math.min(26, Math.floor((element.clientWidth - 90) / 32))),
    );
    const at = (canvas, lane, bank) => colourAt(canvas, 84 + bank * cell, 18 + lane * 13 + 1);
    for (const lane of [0, 7, 31]) {
        assert.equal(await at(naive, lane, 0), ALARM);
        assert.notEqual(await at(naive, lane, 5), ALARM);
        assert.equal(await at(padded, lane, lane), LOAD);
        assert.notEqual(await at(padded, lane, (lane + 1) % 32), LOAD);
    }
    assert.equal(await pixelsOf(padded, ALARM), 0);
    await pane(page, "banks").getByRole("radio", { name: "by bank" }).click();
    await settle(page);
    assert.equal(await at(naive, 31, 0), ALARM); // 32 words, one on the other
    assert.equal(await at(padded, 0, 31), LOAD); // side by side
    assert.equal((await stateOf(page)).banks, "stacks");
    await close();
}

// Sectors: each lane's 4 bytes come with 28 that are not used.
async function sectorsOfRequests() {
    let { page, close } = await show("launch=0&view=sectors&record=1&second=none");
    assert.match(
        await text(pane(page, "sectors").locator(".verdict")),
        /^32 sectors ideal: 4 · 32 lines of 128 B · 128 of 1,024 B transferred are used \(12.5%\) · strided: 1,024 B/,
    );
    assert.equal(
        await canvasOf(page, "sectors").getAttribute("aria-label"),
        "32 sectors in 32 lines transferred for 128 bytes",
    );
    assert.ok((await pixelsOf(canvasOf(page, "sectors"), STORE)) > 2000);
    await close();
    // A dense request uses all that it moves.
    ({ page, close } = await show("launch=0&view=sectors&record=0&second=none"));
    assert.match(
        await text(pane(page, "sectors").locator(".verdict")),
        /^4 sectors ideal: 4 · 1 line of 128 B · 128 of 128 B/,
    );
    await close();
}

// Order: loads go through d_in row by row, stores through d_out column by column.
async function orderOfMatrices() {
    const { page, close } = await show("launch=0&view=order&second=none");
    const picture = canvasOf(page, "order"),
        box = await picture.boundingBox();
    const top = [132, 6, box.width - 142, (box.height - 34) / 2],
        bottom = [132, 12 + (box.height - 34) / 2, box.width - 142, (box.height - 34) / 2];
    const blue = (r, g, b) => b > r,
        inks = await Promise.all(
            [top, bottom].map((part) =>
                picture.evaluate((element, part) => {
                    const { data } = element.getContext("2d").getImageData(...part.map(Math.round));
                    let read = 0,
                        write = 0;
                    for (let i = 0; i < data.length; i += 4) {
                        if (data[i + 2] > data[i] + 60) read++;
                        if (data[i] > data[i + 2] + 60) write++;
                    }
                    return [read, write];
                }, part),
            ),
        );
    assert.ok(
        blue && inks[0][0] > 1000 && inks[0][1] === 0 && inks[1][1] > 1000 && inks[1][0] === 0,
        JSON.stringify(inks),
    );
    await close();
}

// Source: numbers and the finding stand beside their line.
async function numbersInSource() {
    const { page, close } = await show("launch=1&view=source&second=none");
    const line = page.locator(".codeline[data-line='12']");
    assert.match(await text(line), /^512 KiB 4.10k 14% bank conflicts 12 out\[/);
    assert.match(await text(page.locator(".codeline[data-line='9']")), /^512 KiB 4.10k 100% 9 tile\[/);
    await close();
}

// Findings and their place in the run; a diff.
async function findingsOfRun() {
    const { page, close } = await show("launch=1&view=findings");
    assert.deepEqual(await page.locator(".finding h3").allTextContents(), ["bank conflicts load of tile"]);
    await page.getByRole("radio", { name: "whole run" }).click();
    await settle(page);
    // Of the run: what is wrong, what can be changed by what it gains, then where the rest of the time goes.
    assert.deepEqual(await page.locator(".finding .ceiling b").allTextContents(), [
        "!",
        "42.0%",
        "40.0%",
        "39.0%",
        "21.5%",
        "20.0%",
    ]);
    await page.getByLabel("Find a finding").fill("struct");
    assert.equal(await page.locator(".finding").count(), 1);
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Diff" }).click();
    await settle(page);
    assert.deepEqual(await pane(page, "diff").locator("tbody tr td:first-child .tone").allTextContents(), [
        "gone",
        "changed",
        "new",
    ]);
    const kernels = pane(page, "diff").locator(".kernels tbody tr");
    assert.deepEqual(
        [await kernels.count(), await text(kernels.first())],
        [1, "▸ transpose_tiled<32> 71,680 → 8,192 16,384 = 67,584 → 4,096 1 = −88.6%"],
    );
    await kernels.getByRole("button").click();
    assert.deepEqual(
        await kernels.allInnerTexts().then((rows) => rows.slice(1).map((row) => row.replace(/\s+/g, " ").trim())),
        ["cost 71,680 → 8,192 −88.6%", "wavefronts 67,584 → 4,096 −93.9%"],
    );
    // How much of it there is, which may be all that has changed; a place of this run leads to its line.
    assert.match(
        await text(pane(page, "diff").locator("tbody tr").nth(1)),
        /32 sectors per request where 4 would do · 14,336 beyond the ideal 8 sectors per request where 4 would do · 2,048 beyond the ideal$/,
    );
    // Not what is gone.
    assert.equal(await pane(page, "diff").locator("tbody button", { hasText: "demo.cu" }).count(), 2);
    await pane(page, "diff").getByRole("radio", { name: "same 1" }).click();
    assert.deepEqual(await pane(page, "diff").locator("tbody tr td:first-child .tone").allTextContents(), ["same"]);
    await pane(page, "diff").getByRole("button", { name: "demo.cu:26" }).click();
    await settle(page);
    assert.match(await text(pane(page, "source").locator(".codeline.here").first()), /26/);
    await close();
}

// Where one is left over, its noun is singular; numbers have separators.
async function oneMore() {
    const { page, close } = await show("launch=0");
    await page.evaluate(() => {
        const { demo } = window;
        const changed = (name, change) => {
            const ask = demo[name].bind(demo);
            demo[name] = async (...values) => change(await ask(...values));
        };
        changed("launches", ({ rows }) => ({
            rows: rows.map((row) => ({ ...row, grid: [400000, 1, 1], block: [1024, 1, 1], accesses: 1 })),
            total: rows.length + 1,
        }));
        changed("groups", ({ rows }) => ({ rows, total: rows.length + 1 }));
        changed("conflicts", ({ rows }) => ({
            rows: rows.map((row) => ({ ...row, touchCount: row.touches.length + 1 })),
            total: rows.length,
        }));
        changed("findings", (rows) => rows.flatMap((row) => [row, { ...row, finding: "another" }]));
    });
    await page.keyboard.press("]"); // the first answers were as they are
    await page.getByText("1 smaller group is not shown.").waitFor();
    await page.locator(".picker").click();
    await page.getByRole("button", { name: "1 more launch", exact: true }).waitFor();
    const option = page.getByRole("listbox", { name: "Launches" }).getByRole("option").first();
    assert.match(await text(option), /400,000 CTAs of 1,024 .*\b1 access$/);
    await page.keyboard.press("Escape");
    await page.evaluate(() => (location.hash = "#launch=4&view=conflicts&second=none"));
    await pane(page, "conflicts").locator("tbody tr button").first().click();
    await pane(page, "conflicts").getByText("1 more lane", { exact: true }).waitFor();
    await page.evaluate(() => (location.hash = "#launch=1&view=source&second=none"));
    await page.getByRole("button", { name: "1 more finding", exact: true }).first().waitFor();
    await close();
}

// Shared memory: its variables, and the padding that the size of one tells.
async function sharedVariables() {
    let { page, close } = await show("launch=2&record=8&view=addresses&second=none");
    assert.deepEqual(
        await pane(page, "addresses")
            .locator(".allocations li")
            .allInnerTexts()
            .then((all) => all.map((t) => t.replace(/\s+/g, " "))),
        ["float tile[1056] 4.12 KiB · 1,056 × float demo.cu:6 · +0"],
    );
    assert.match(await text(pane(page, "addresses").locator(".head")), /^tile of each CTA, 4.12 KiB/);
    await pane(page, "addresses").getByRole("radio", { name: "matrix" }).click();
    await settle(page);
    assert.equal(await page.getByLabel("Columns of the matrix").inputValue(), "33");
    assert.match(
        await canvasOf(page, "addresses").getAttribute("aria-label"),
        /^tile: 33 columns by 32 rows of 4 B, 1,024 cells touched$/,
    );
    assert.match(await text(page.locator(".lanetable tbody tr").nth(2)), /^2 2, 0 tile\[66\] /);
    assert.match((await stateOf(page)).shapes, /:matrix:132$/);
    const shared = page.url();
    await page.keyboard.press("/");
    await page.keyboard.type("float tile");
    await settle(page);
    assert.match(await text(page.locator(".search [role=option]").first()), /tile 4.12 KiB of each CTA/);
    await close();
    ({ page, close } = await open(browser, shared));
    assert.match(await canvasOf(page, "addresses").getAttribute("aria-label"), /^tile: 33 columns/);
    await close();
}

// Structs: 8 of 24 bytes in use, the first two of six cells.
async function structCells() {
    const { page, close } = await show(
        `launch=3&view=addresses&second=none&window=global:${hex(0x7f0000200000)}-` +
            `${hex(0x7f0000200000 + 24 * 20 - 1)}`,
    );
    assert.equal(await page.getByRole("radio", { name: "structs" }).getAttribute("aria-checked"), "true");
    assert.equal(await page.getByLabel("Bytes of a struct").inputValue(), "24");
    assert.match(
        await canvasOf(page, "addresses").getAttribute("aria-label"),
        /^d_structs: 6 columns by 20 rows of 4 B, 40 cells touched$/,
    );
    await close();
}

// The timeline, the picker, the search and the brackets open launches.
async function launchesByPointerAndKeys(page) {
    const strip = page.locator(".strip canvas"),
        stripBox = await strip.boundingBox(),
        plot = stripBox.width - 116;
    assert.match(await strip.getAttribute("aria-label"), /7 launches on 2 streams; launch 0, transpose_naive, is open/);
    await page.mouse.click(stripBox.x + 108 + (plot * 7500) / 36000, stripBox.y + 17 + 27);
    await settle(page);
    assert.equal((await stateOf(page)).launch, "1");
    await page.mouse.wheel(0, -300);
    await settle(page);
    assert.match((await stateOf(page)).t, /^\d+-\d+$/);
    await page.locator(".picker").click();
    await page.getByLabel("Search launches").fill("weigh");
    await settle(page);
    await page.getByRole("option", { name: /weigh_array_of_structs/ }).click();
    await settle(page);
    assert.equal((await stateOf(page)).launch, "3");
    await page.keyboard.press("[");
    await settle(page);
    assert.equal((await stateOf(page)).launch, "2");
    await page.keyboard.press("/");
    await page.keyboard.type("tile");
    await settle(page);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.ok((await stateOf(page)).site);
}

// Digits choose views; a search begins anew where one was left.
async function viewsAndSearchByKeys(page) {
    for (const [key, view] of [
        ["2", "source"],
        ["5", "banks"],
        ["4", "addresses"],
        ["8", "order"],
    ]) {
        await page.keyboard.press(key);
        assert.equal(
            await page.locator("[role=tab][aria-selected=true]").innerText(),
            { source: "Source", banks: "Banks", addresses: "Addresses", order: "Order" }[view],
        );
    }
    await page.keyboard.press("?");
    assert.equal(await page.getByRole("dialog", { name: "Help" }).count(), 1);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // A search begins anew where one was left.
    await page.keyboard.press("/");
    await page.keyboard.type("nonsense");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("d_out");
    await settle(page);
    assert.match(await text(page.locator(".search [role=option]").first()), /^allocation d_out/);
    await page.keyboard.press("Enter");
    await settle(page);
    await page.keyboard.press("Escape"); // the filter
    await settle(page);
}

// The pictures that zoom do so by keys, too, when Tab has come to them.
async function zoomByKeys(page) {
    const whole = await stateOf(page),
        map = canvasOf(page, "addresses"),
        strip = page.locator(".strip canvas");
    await map.focus();
    assert.equal(await map.evaluate((element) => element.tabIndex), 0);
    await page.keyboard.press("+");
    let at = (await stateOf(page)).window;
    assert.match(at, /^global:/);
    await page.keyboard.press("ArrowDown");
    assert.notEqual((await stateOf(page)).window, at);
    await page.keyboard.press("ArrowUp");
    assert.equal((await stateOf(page)).window, at);
    await page.keyboard.press("Home");
    assert.deepEqual([(await stateOf(page)).window, (await stateOf(page)).view], [whole.window, "addresses"]);
    await strip.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("+");
    const [from, to] = (await stateOf(page)).t.split("-").map(Number);
    await page.keyboard.press("ArrowRight");
    at = (await stateOf(page)).t.split("-").map(Number);
    assert.ok(at[0] > from && at[1] - at[0] === to - from, `${at} ${from} ${to}`);
    await page.keyboard.press("Home");
    assert.equal((await stateOf(page)).t, undefined);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("8");
    await settle(page);
    await canvasOf(page, "order").focus();
    await page.keyboard.press("+");
    const halved = /^(\d+)-(\d+):/.exec((await stateOf(page)).order);
    await settle(page); // keys count from what is drawn
    await page.keyboard.press("ArrowLeft");
    const moved = /^(\d+)-(\d+):/.exec((await stateOf(page)).order);
    assert.ok(
        Number(moved[1]) < Number(halved[1]) && moved[2] - moved[1] === halved[2] - halved[1],
        `${halved} ${moved}`,
    );
    await page.keyboard.press("Home");
    assert.equal((await stateOf(page)).order, undefined);
}

// The order leads to single requests.
async function orderLeadsToRequest(page) {
    await page.goto(`${base}#launch=0&view=order&order=0-40:${hex(IN)}-${hex(IN + 262143)}`);
    await page.reload();
    await settle(page);
    const picture = canvasOf(page, "order"),
        size = await picture.boundingBox();
    await page.mouse.click(size.x + 132 + ((size.width - 142) / 41) * 10.5, size.y + 40);
    await settle(page);
    assert.equal((await stateOf(page)).record, "10");
}

// Of millions of requests each number is shown whole, in the rows and in the list of allocations, and the pointer
// finds the lanes, which stand further right for that.
async function wholeNumbers() {
    const { page, close } = await show("launch=6&view=warps&second=addresses&record=3199990");
    await page.evaluate(() => {
        const { prototype } = CanvasRenderingContext2D,
            fill = prototype.fillText;
        window.texts = [];
        prototype.fillText = function (text, ...at) {
            window.texts.push(String(text));
            return fill.call(this, text, ...at);
        };
    });
    const lanes = await lanesOf(page),
        box = await lanes.canvas.boundingBox();
    assert.equal(lanes.count, 32);
    await page.mouse.move(box.x + lanes.left + 5.5 * lanes.cell, box.y + lanes.y(0));
    await settle(page);
    assert.match(await text(page.locator(".status")), /lane 5: /);
    const texts = await page.evaluate(() => window.texts);
    assert.ok(texts.includes("3,199,990"), texts.join(" "));
    assert.deepEqual(
        texts.filter((one) => /\d…/.test(one)),
        [],
    );
    const small = pane(page, "addresses").locator(".allocations small");
    assert.match((await small.allInnerTexts()).join(), /102,400,000 × float/);
    assert.deepEqual(
        await small.evaluateAll((all) =>
            all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText),
        ),
        [],
    );
    await close();
}

const parts = {
    // Each view over closed forms.
    async views() {
        await warpsAndMap();
        await conflictsOfCounters();
        await banksSideBySide();
        await sectorsOfRequests();
        await orderOfMatrices();
        await numbersInSource();
        await findingsOfRun();
        await sharedVariables();
        await structCells();
    },

    async links() {
        // A lane that is pointed at lights its bytes; bytes that are pointed at light their lanes.
        let { page, close } = await show(`launch=0&window=global:${hex(IN)}-${hex(IN + 1023)}`);
        const lanes = await lanesOf(page),
            map = canvasOf(page, "addresses"),
            box = await lanes.canvas.boundingBox();
        const dark = "17,17,17",
            plain = await pixelsOf(map, dark);
        await page.mouse.move(box.x + lanes.left + 5.5 * lanes.cell, box.y + lanes.y(0));
        await settle(page);
        assert.ok((await pixelsOf(map, dark)) > plain + 30, "no bytes light up");
        assert.match(await text(page.locator(".status")), /lane 5: load 4 B at d_in\[5\]/);
        assert.match(await text(page.locator(".tip").first()), /lane 5: load 4 B at d_in\[5\] .*value 5/);
        const outlines = await pixelsOf(lanes.canvas, dark),
            mapBox = await map.boundingBox();
        await page.mouse.move(mapBox.x + 60, mapBox.y + 24); // the first cell
        await pageTimer(page, 200);
        await settle(page);
        assert.match(
            await text(page.locator(".tip")),
            /d_in\[0\] 0x7f0000000000: read by 1 lane load: CTA \(0, 0\), warp 0, lane 0, demo.cu:19/,
        );
        assert.ok((await pixelsOf(lanes.canvas, dark)) > outlines + 20, "no lane lights up");
        // A click selects bytes, and the only lane that touched them.
        await page.mouse.click(mapBox.x + 60, mapBox.y + 24);
        await settle(page);
        let state = await stateOf(page);
        assert.equal(state.bytes, `global:${hex(IN)}-${hex(IN + 3)}`);
        assert.equal(state.record, "0");
        assert.match(await text(page.locator(".touching")), /d_in\[0\] · 4 B from .* 1 lane touched them/);
        await page.getByRole("button", { name: "Filter by these bytes" }).click();
        await settle(page);
        assert.match(await text(page.locator(".matched")), /^1 of 4,096 requests/);
        await page.locator(".chip").first().click();
        await settle(page);
        assert.match(await text(page.locator(".matched")), /^4,096 requests, all shown/);

        // A lane that is clicked is selected everywhere; pins have names and are compared.
        await page.mouse.click(box.x + lanes.left + 3.5 * lanes.cell, box.y + lanes.y(1));
        await settle(page);
        state = await stateOf(page);
        assert.deepEqual([state.record, state.lane], ["1", "3"]);
        assert.match(
            await text(page.locator(".selected")),
            /Request 1 .*store 4 B global, out float CTA \(0, 0\) warp 0 of 8 at demo.cu:19 lanes strided: 1,024 B from lane to lane 32 sectors, ideal: 4/,
        );
        assert.match(await text(page.locator(".lanetable tr.on")), /^3 3, 0 d_out\[768\] 3$/);
        await page.keyboard.press("p");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("p");
        await settle(page);
        assert.equal((await stateOf(page)).pins, "1.3,1.4");
        assert.match(
            await text(page.locator(".pins")),
            /A CTA \(0, 0\), warp 0, lane 3 d_out\[768\].*B CTA \(0, 0\), warp 0, lane 4 d_out\[1024\].*A \+ 1,024 B/,
        );
        // Arrows step through what the filter lets through.
        await page.getByRole("button", { name: "load", exact: true }).click();
        await settle(page);
        assert.match(await text(page.locator(".matched")), /^2,048 of 4,096/);
        assert.match(await text(pane(page, "warps").locator(".head")), /request 1 is outside the filter/);
        for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) {
            await page.keyboard.press(key);
            await settle(page, 40);
        }
        assert.equal((await stateOf(page)).record, "2");
        // All accesses of the warp: its 8 requests.
        await page.getByRole("button", { name: "All accesses of this warp" }).click();
        await settle(page);
        state = await stateOf(page);
        assert.deepEqual([state.cta, state.warp], ["0", "0"]);
        assert.match(await text(page.locator(".matched")), /^8 of 4,096/);
        // Esc clears the selection, then the filter.
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        await settle(page);
        state = await stateOf(page);
        assert.ok(!state.record && !state.cta && !state.op);
        // The whole state is in the URL: a new page shows the same.
        const address = page.url();
        await close();
        ({ page, close } = await open(browser, address));
        assert.match(await text(page.locator(".pins")), /lane 3 d_out\[768\].*lane 4 d_out\[1024\]/);
        await close();
    },

    async pins() {
        // A lane, a request and bytes are pinned; each has a letter, may have a name, and is compared with A.
        const { page, close } = await show(`launch=0&record=1&lane=3&view=warps&second=order`);
        const pins = page.locator(".pins li"),
            red = "170,68,153"; // what pins are drawn in
        const order = canvasOf(page, "order"),
            before = await pixelsOf(order, red);
        assert.equal(before, 0);
        await page.keyboard.press("p");
        const { canvas, left, cell, y } = await lanesOf(page),
            box = await canvas.boundingBox();
        await page.keyboard.down("Shift");
        await page.mouse.click(box.x + left + 4.5 * cell, box.y + y(1));
        await page.mouse.click(box.x + 20, box.y + y(3)); // left of the lanes: the whole request
        await page.keyboard.up("Shift");
        await settle(page);
        assert.equal((await stateOf(page)).pins, "1.3,1.4,3");
        assert.match(
            await text(pins.nth(2)),
            /^C CTA \(0, 0\), warp 0 d_out\[8\] demo.cu:19, 32\/4 sectors A − 3,040 B/,
        );
        assert.ok((await pixelsOf(order, red)) > 100, "no pin in the order");
        await page.getByLabel("Name of pin B").fill("its neighbour, east");
        await page.keyboard.press("Enter");
        await settle(page);
        // Bytes from the map: those of A's lane and the eight after it.
        await page.goto(
            `${base}#launch=0&view=sectors&second=none&record=1&bytes=global:${hex(OUT + 3072)}-` +
                `${hex(OUT + 3083)}&pins=${encodeURIComponent((await stateOf(page)).pins)}`,
        );
        await page.reload();
        await settle(page);
        await page.getByRole("button", { name: "Pin these bytes" }).click();
        await settle(page);
        assert.equal(await page.getByLabel("Name of pin B").inputValue(), "its neighbour, east");
        assert.match(await text(pins.nth(3)), /^D 12 B of global memory d_out\[768\] A \+ 0 B, 4 B in common/);
        // Selecting a pin; a letter stands for its lane's number; each is let go alone.
        const plain = await pixelsOf(canvasOf(page, "sectors"), STORE);
        await page.getByRole("button", { name: "Unpin A", exact: true }).click();
        await settle(page);
        assert.ok((await pixelsOf(canvasOf(page, "sectors"), STORE)) > plain, "the letter stays");
        assert.deepEqual((await stateOf(page)).pins.split(",").length, 3);
        await page.getByRole("button", { name: "Select pin A" }).click();
        await settle(page);
        assert.equal((await stateOf(page)).lane, "4");
        await page.getByRole("button", { name: "unpin all" }).click();
        assert.equal(await page.locator(".pins").count(), 0);
        await close();
    },

    // What is chosen in one view is what the others show.
    async between() {
        // Conflicts: a range goes to the map, a lane of it is selected.
        let { page, close } = await show("launch=4&view=conflicts&second=none");
        await pane(page, "conflicts").getByRole("button", { name: "Map" }).nth(2).click();
        await settle(page);
        let state = await stateOf(page);
        assert.deepEqual(
            [state.view, state.bytes],
            ["addresses", `global:${hex(0x7f0000500008)}-${hex(0x7f000050000b)}`],
        );
        assert.match(await text(pane(page, "addresses").locator(".head b").first()), /^d_counts$/);
        assert.match(await text(page.locator(".touching")), /d_counts\[2\] · 4 B .*480 lanes touched them/);
        await page.locator(".touching .touches button").nth(1).click();
        await settle(page);
        state = await stateOf(page);
        assert.match(await text(page.locator(".selected .facts")), /atomic add 4 B global, counts/);
        assert.ok(state.record && state.lane);
        await close();

        // Banks and sectors: a click selects the lane, everywhere; pointing at one lights it in Warps.
        ({ page, close } = await show("launch=1&view=banks&record=8&second=warps"));
        const banks = canvasOf(page, "banks"),
            bankBox = await banks.boundingBox();
        const cell = await banks.evaluate((element) =>
            Math.max(6, Math.min(26, Math.floor((element.clientWidth - 90) / 32))),
        );
        await banks.evaluate((element) => element.scrollIntoView());
        await page.mouse.click(bankBox.x + 84 + cell / 2, (await banks.boundingBox()).y + 18 + 5 * 13 + 6);
        await settle(page);
        assert.equal((await stateOf(page)).lane, "5");
        assert.match(await text(page.locator(".lanetable tr.on")), /^5 5, 0 tile\[160\] 1280$/);
        await close();
        ({ page, close } = await show("launch=0&view=warps&second=sectors&record=1"));
        const warps = canvasOf(page, "warps"),
            sectors = canvasOf(page, "sectors"),
            dark = "17,17,17",
            unlit = await pixelsOf(warps, dark);
        const sectorBox = await sectors.boundingBox(),
            byte = Math.max(2, Math.min(9, (sectorBox.width - 160) / 128));
        await page.mouse.move(sectorBox.x + 150 + byte, sectorBox.y + 28);
        await settle(page);
        assert.ok((await pixelsOf(warps, dark)) > unlit + 20, "no lane lights up");
        assert.match(await text(page.locator(".status")), /^lane 0: store 4 B at d_out\[0\]/);
        await page.mouse.move(sectorBox.x + 150 + 20 * byte, sectorBox.y + 28);
        assert.match(await text(page.locator(".status")), /transferred, but not used by this request/);
        await page.mouse.click(sectorBox.x + 150 + byte, sectorBox.y + 28);
        await settle(page);
        assert.equal((await stateOf(page)).lane, "0");
        // From the request to its warp, site, CTA, place and picture.
        for (const [button, field, value] of [
            ["All accesses of this warp", "warp", "0"],
            ["This site", "site", "1"],
            ["This CTA", "cta", "0"],
        ]) {
            await page.getByRole("button", { name: button, exact: true }).click();
            await settle(page);
            assert.equal((await stateOf(page))[field], value, button);
        }
        await page.locator(".selected .facts button").click();
        await settle(page);
        assert.deepEqual([(await stateOf(page)).view, (await stateOf(page)).at], ["source", "19"]);
        assert.equal(await page.locator(".codeline.here").getAttribute("data-line"), "19");
        // The finding beside a line leads to an example.
        await page.locator(".codeline[data-line='19'] .pill").click();
        await settle(page);
        assert.equal((await stateOf(page)).view, "sectors");
        await close();

        // The order: bytes under the pointer light up on the map, and the allocation is chosen for both.
        ({ page, close } = await show("launch=0&view=order&second=addresses"));
        const map = canvasOf(page, "addresses"),
            order = canvasOf(page, "order"),
            orderBox = await order.boundingBox();
        await page.mouse.move(orderBox.x + 300, orderBox.y + 10);
        await settle(page);
        assert.match(await text(page.locator(".status")), /^request [\d,]+, d_in\[\d+\]/);
        await page.getByLabel("Addresses shown").selectOption("1");
        await settle(page);
        assert.match(await map.getAttribute("aria-label"), /^d_out: /);
        await close();
    },

    async shapes() {
        // An allocation as an array, a matrix of a pitch, structs; in the link, too.
        const { page, close } = await show("launch=0&view=addresses&second=none"),
            map = canvasOf(page, "addresses");
        await page.getByRole("radio", { name: "matrix" }).click();
        await settle(page);
        assert.equal(await page.getByLabel("Columns of the matrix").inputValue(), "256");
        assert.match(
            await map.getAttribute("aria-label"),
            /^d_out: 256 columns by 256 rows of 4 B, 65,536 cells touched$/,
        );
        await page.getByLabel("Columns of the matrix").fill("512");
        await page.keyboard.press("Enter");
        await settle(page);
        assert.match(await map.getAttribute("aria-label"), /^d_out: 512 columns by 128 rows of 4 B/);
        await page.getByLabel("Columns of the matrix").fill("0");
        await page.keyboard.press("Enter");
        assert.equal(await page.getByLabel("Columns of the matrix").inputValue(), "512");
        await page.getByRole("radio", { name: "structs" }).click();
        await page.getByLabel("Bytes of a struct").fill("12");
        await page.keyboard.press("Enter");
        await settle(page);
        assert.equal((await stateOf(page)).shapes, "1:structs:12");
        assert.match(await map.getAttribute("aria-label"), /^d_out: 3 columns by /);
        // A column of the matrix is what a store of the transposition goes down.
        await page.goto(
            `${base}#launch=0&view=addresses&second=none&shapes=1:matrix:1024&record=1&window=global:` +
                `${hex(OUT)}-${hex(OUT + 65535)}`,
        );
        await page.reload();
        await settle(page);
        assert.match(await map.getAttribute("aria-label"), /^d_out: 256 columns by 64 rows of 4 B/);
        await close();
    },

    async filters() {
        // A finding leads to its example, in the view that shows it.
        const { page, close } = await show("launch=1&view=findings&scope=run");
        const example = (title) =>
            page.locator(".finding", { hasText: title }).getByRole("button", { name: "Show an example" });
        await example("bank conflicts").click();
        await settle(page);
        let state = await stateOf(page);
        assert.deepEqual([state.view, state.launch, state.site], ["banks", "1", "4"]);
        assert.match(await text(pane(page, "banks").locator(".verdict")), /32-way conflict/);
        await page.goBack();
        await settle(page);
        await example("strided access").click();
        await settle(page);
        state = await stateOf(page);
        assert.deepEqual([state.view, state.launch], ["sectors", "0"]);
        // A line of the source is the filter, and leaves it again.
        await page.getByRole("button", { name: "demo.cu:19", exact: true }).click();
        await settle(page);
        assert.equal((await stateOf(page)).view, "source");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Filter by line 19" }).click();
        await settle(page);
        assert.equal((await stateOf(page)).line, "0:19");
        await page.getByRole("button", { name: "Filter by line 19" }).click();
        await settle(page);
        assert.equal((await stateOf(page)).line, undefined);
        // Groups filter too, by each of what they go by.
        for (const [by, name, field, value] of [
            ["site", "line 19 store out", "site", "1"],
            ["allocation", "d_out", "range", `global:${hex(OUT)}-${hex(OUT + 262143)}`],
            ["operation", "store", "op", "store"],
            ["cta", "CTA (3, 0)", "cta", "3"],
            ["warp", "warp 2", "warp", "2"],
        ]) {
            await page.getByLabel("Group by").selectOption(by);
            await settle(page);
            await page.getByLabel("Find a group").fill(name);
            await page.locator(".grouplist button").first().click();
            await settle(page);
            assert.equal((await stateOf(page))[field], value);
            await page.locator(".grouplist button").first().click();
            await settle(page);
            assert.equal((await stateOf(page))[field], undefined);
            await page.getByLabel("Find a group").fill("");
        }
        await close();
    },

    // What leads to launches, views and requests.
    async ways() {
        const { page, close } = await show("launch=0");
        await launchesByPointerAndKeys(page);
        await viewsAndSearchByKeys(page);
        await zoomByKeys(page);
        await orderLeadsToRequest(page);
        await close();
    },

    async bad() {
        // What a link names and the run does not have is said, and the rest is shown.
        let { page, close } = await show("launch=0&record=999999&site=77&nonsense=1&file=9");
        const notices = await text(page.locator(".notices"));
        for (const part of ["'nonsense=1'", "Record 999999 does not exist", "Site 77", "Source 9"])
            assert.ok(notices.includes(part), notices);
        assert.match(await text(pane(page, "warps").locator(".head")), /^4,096 requests/);
        await page.getByRole("button", { name: "Dismiss the notices" }).click();
        assert.equal(await page.locator(".notices").count(), 0);
        await close();
        ({ page, close } = await show("launch=99&view=warps"));
        await settle(page);
        assert.match(await text(page.locator(".notices")), /Launch 99 cannot be shown: the run has no launch 99/);
        assert.equal(await text(page.locator(".picker code")), "transpose_naive");
        await close();
        // Memory that is not there, of a map, a selection, a pin; a comparison with what does not exist.
        ({ page, close } = await show(
            "launch=0&view=addresses&second=none&window=global:0x1000-0x1fff" +
                "&bytes=global:0x10-0x1f&pins=global:0x20-0x2f,88888888~gone",
        ));
        await settle(page);
        const lost = await text(page.locator(".notices"));
        assert.ok(
            lost.includes("The memory at 0x1000 does not exist in launch 0") && lost.includes("Pinned record 88888888"),
            lost,
        );
        assert.match(await canvasOf(page, "addresses").getAttribute("aria-label"), /^d_out: /);
        assert.match(
            await text(page.locator(".touching")),
            /0x10, outside every allocation · 16 B .* No lane in this filter touched them/,
        );
        assert.match(await text(page.locator(".pins")), /0x20, outside every allocation/);
        await close();
        ({ page, close } = await show("launch=1&view=banks&second=none&record=8&compare=this:2:99999999"));
        assert.match(await text(pane(page, "banks")), /Request 99999999 of launch 2 does not exist/);
        await page.getByRole("button", { name: "Stop comparing" }).click();
        await close();
        // Views that this page has no data for say why.
        ({ page, close } = await show("launch=0&view=communication"));
        assert.match(
            await text(pane(page, "communication")),
            /This page contains only one launch\. ctascope report RUN/,
        );
        await close();
        ({ page, close } = await show("launch=0&view=addresses&second=none&op=atomic"));
        assert.match(await canvasOf(page, "addresses").getAttribute("aria-label"), / 0 cells touched$/);
        assert.match(await text(page.locator(".filter .nothing")), /Nothing matches/);
        await close();
        // A filter that matches nothing says so, in each view, and offers to clear it.
        for (const view of ["warps", "sectors", "conflicts", "order", "banks"]) {
            ({ page, close } = await show(`launch=${view === "banks" ? 1 : 0}&view=${view}&second=none&op=atomic`));
            assert.match(await text(pane(page, view)), /No [a-z -]+ match the filter\. Clear the filter/, view);
            await page.getByRole("button", { name: "Clear the filter" }).click();
            await settle(page);
            assert.equal((await stateOf(page)).op, undefined);
            await close();
        }
        // A launch without shared memory, and one that was not recorded.
        ({ page, close } = await show("launch=0&view=banks&second=none"));
        assert.match(await text(pane(page, "banks")), /This launch has no recorded shared-memory requests/);
        await close();
        for (const view of ["findings", "warps", "banks", "sectors", "conflicts", "order"]) {
            ({ page, close } = await show(`launch=5&view=${view}&second=none`));
            assert.match(await text(pane(page, view)), /No accesses were recorded for this launch\.$/, view);
            await close();
        }
        ({ page, close } = await show("launch=5&view=addresses"));
        assert.match(await text(pane(page, "addresses")), /No accesses were recorded for this launch/);
        await page.locator(".warned").click();
        assert.match(
            await text(page.locator(".popup.warnings")),
            /3 accesses were dropped.*This launch was not recorded/,
        );
        await close();
        // Fields take what they understand.
        ({ page, close } = await show("launch=0"));
        await page.getByRole("textbox", { name: "CTA" }).fill("1-x");
        await page.keyboard.press("Enter");
        assert.match(await text(page.locator(".field.wrong")), /Enter numbers and ranges/);
        await page.getByRole("textbox", { name: "CTA" }).fill("900");
        await page.keyboard.press("Enter");
        assert.match(await text(page.locator(".field.wrong")), /Valid numbers: 0 to 63/);
        await page.getByRole("textbox", { name: "CTA" }).fill("1-2, 5");
        await page.keyboard.press("Enter");
        await settle(page);
        assert.match(await text(page.locator(".matched")), /^192 of 4,096/);
        await close();
    },

    async mended() {
        await wholeNumbers();
        // A chosen tab is as wide as one that is not: nothing moves.
        let { page, close } = await show("launch=0&view=warps&second=none");
        const tab = page.getByRole("tab", { name: "Order" }),
            before = await tab.boundingBox();
        await tab.click();
        await settle(page);
        assert.deepEqual(await tab.boundingBox(), before);
        // The order's colours are named.
        assert.match(await text(pane(page, "order").locator(".inks")), /read.*written.*both/);
        // Arrows move among tabs for those who came by keyboard.
        await tab.focus();
        await page.keyboard.press("ArrowLeft");
        await settle(page);
        assert.equal((await stateOf(page)).view, "conflicts");
        await close();
        // The map opens as the matrix that the requests go through, and says what its shades stand for.
        ({ page, close } = await show("launch=0&view=addresses&second=none"));
        assert.equal(await page.getByLabel("Columns of the matrix").inputValue(), "256");
        assert.match(await text(pane(page, "addresses").locator(".scale")), /access(es)?( per cell of|$)/);
        await close();
        // Filtered to what does not touch it, the map goes to what does.
        ({ page, close } = await show(
            `launch=0&view=addresses&second=none&window=global:${hex(IN)}-${hex(IN + 65535)}`,
        ));
        const map = canvasOf(page, "addresses");
        assert.match(await map.getAttribute("aria-label"), /^d_in: /);
        await page.getByRole("button", { name: "store", exact: true }).click();
        await settle(page);
        assert.match(await map.getAttribute("aria-label"), /^d_out: /);
        await close();
    },

    // Launches, copies of an instruction and keys.
    async names() {
        await oneMore();
        let { page, close } = await show("launch=0");
        await page.locator(".picker").click();
        const list = page.getByRole("listbox", { name: "Launches" }).getByRole("option"),
            inList = () => list.locator(".duration").allTextContents();
        await settle(page);
        const times = await inList();
        assert.equal(times.length, await list.count());
        assert.ok(times.every((time) => /^([\d.]+ (ns|us|ms|s)|–)$/.test(time)));
        await page.getByRole("radio", { name: "most accesses" }).click();
        await settle(page);
        const counts = (await list.allInnerTexts()).map((row) =>
            Number(/([\d,]+) accesses/.exec(row)?.[1].replaceAll(",", "") ?? 0),
        );
        assert.deepEqual(
            counts,
            [...counts].sort((a, b) => b - a),
        );
        await page.keyboard.press("Escape");
        // Pictures that take keys say which; the others are pictures, and cannot be focused.
        for (const canvas of await page.locator("canvas").all()) {
            const [role, tab, label] = await canvas.evaluate((it) => [
                it.getAttribute("role"),
                it.tabIndex,
                it.getAttribute("aria-description") ?? "",
            ]);
            assert.equal(role, tab < 0 ? "img" : "application", label);
            assert.ok(tab < 0 || /Keys: plus and minus zoom/.test(label), label);
        }
        // 0 has one meaning: a view, also where a picture has the focus.
        await page.locator(".strip canvas").focus();
        await page.keyboard.press("8");
        await settle(page);
        assert.equal((await stateOf(page)).view, "order");
        await close();
        // Copies of an unrolled instruction are one chip, with their number.
        ({ page, close } = await show("launch=0&site=0,10,11"));
        const chips = page.locator(".chip");
        assert.equal(await chips.count(), 1);
        assert.match(await text(chips.first()), /^demo.cu:19 load of in × 3 ×$/);
        await close();
    },

    // For whoever sees badly or has no mouse: contrast, names, roles, and 200% of a small screen.
    async access() {
        const found = [];
        const judge = async (page, where) => {
            for (const text of [...(await faint(page)), ...(await unnamed(page))]) found.push(`${where}: ${text}`);
        };
        for (const colorScheme of ["light", "dark"]) {
            const { page, close } = await show("launch=1&record=8&pins=8.1,9", { colorScheme });
            const names = [
                "Findings",
                "Source",
                "Warps",
                "Addresses",
                "Banks",
                "Sectors",
                "Conflicts",
                "Order",
                "Diff",
            ];
            for (const name of names) {
                await page.getByRole("tab", { name }).click();
                await settle(page);
                await judge(page, `${colorScheme}, ${name}`);
            }
            for (const open of [".picker", ".warned", "[aria-label=Help]"]) {
                if (!(await page.locator(open).count())) continue;
                await page.locator(open).first().click();
                await settle(page);
                await judge(page, `${colorScheme}, ${open}`);
                await page.keyboard.press("Escape");
            }
            await close();
        }
        assert.deepEqual(found, []);
        // The judge sees what is planted: grey letters, and a button without a name.
        const planted = await show("launch=0");
        await planted.page.evaluate(() => {
            document.querySelector(".left h2").style.color = "#bbb";
            document.querySelector(".left").append(document.createElement("button"));
        });
        assert.deepEqual([(await faint(planted.page)).length, (await unnamed(planted.page)).length], [1, 1]);
        await planted.close();
        // 1280x720 at 200%: nothing lies over something else, and all can be scrolled to.
        const { page, close } = await show("launch=1&record=8", { viewport: { width: 640, height: 360 } });
        for (const name of ["Findings", "Source", "Warps", "Addresses", "Banks"]) {
            await page.getByRole("tab", { name }).click();
            await settle(page);
            const boxes = await page.evaluate(() =>
                [".top", ".strip", ".centre", ".left", ".right"].map((part) => {
                    const { left, right, top, bottom } = document.querySelector(part).getBoundingClientRect();
                    return { part, left, right, top: top + scrollY, bottom: bottom + scrollY };
                }),
            );
            for (const { part, left, right } of boxes) assert.ok(left >= 0 && right <= 641, `${name}: ${part}`);
            for (let i = 1; i < boxes.length; i++)
                assert.ok(boxes[i].top >= boxes[i - 1].bottom - 1, `${name}: ${boxes[i].part} over the one before`);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), name);
        }
        const right = page.locator(".right");
        await right.scrollIntoViewIfNeeded();
        assert.ok((await right.boundingBox()).y < 360);
        await close();
    },

    async opening() {
        // Without a link the page opens on what to do first in the whole run, ranked.
        let { page, close } = await show("");
        assert.equal((await stateOf(page)).view, "findings");
        assert.equal(await page.getByRole("radio", { name: "whole run" }).getAttribute("aria-checked"), "true");
        const cards = page.locator(".finding");
        const titles = () => cards.locator("h3").allInnerTexts();
        const first = [
            "atomics on one address atomic add of counts",
            "bank conflicts load of tile",
            "time on the host load_input",
            "strided access store of out",
            "array of structs load of particles",
            "time on the host transpose_naive",
        ];
        assert.deepEqual(await titles(), first);
        assert.match(await text(cards.nth(1)), /^42\.0% of the run's time at most .* exact .*Fix: Pad the rows/);
        // What is small is counted, and shown when asked for; what the analysis left out is told.
        assert.match(await text(page.locator(".findings")), /2 findings are below 1% of a kernel's memory traffic/);
        await page.getByRole("button", { name: "7 more below 1% of the run's time" }).click();
        assert.deepEqual((await titles()).at(-1), "time on the host log");
        assert.match(await text(page.locator(".folded")), /6 of them are not listed/);
        // Each has its own picture, which says what it shows.
        const pictureOf = (i) => cards.nth(i).locator("svg").getAttribute("aria-label");
        assert.equal(await pictureOf(1), "lanes (rows) by banks: 32 wavefronts, ideal 1");
        assert.match(await pictureOf(3), /^32 sectors of 32 B in 32 lines, ideal 4/);
        assert.equal(await pictureOf(2), "Its place in the run");
        // It leads into every view with the selection set, and back.
        await cards.nth(1).getByRole("button", { name: "Addresses" }).click();
        await settle(page);
        const state = await stateOf(page);
        assert.deepEqual([state.view, state.launch, state.site], ["addresses", "1", "4"]);
        assert.ok(state.record !== undefined);
        await page.goBack();
        await settle(page);
        assert.equal(await cards.count(), first.length);
        await cards.nth(1).getByRole("button", { name: "demo.cu:12" }).click();
        await settle(page);
        assert.match(await text(pane(page, "source").locator(".codeline.here").first()), /12/);
        await close();
        // One launch in a file has no run: its findings are of the launch.
        ({ page, close } = await show("launch=1&view=findings&scope=launch"));
        assert.deepEqual(await titlesOf(page), ["bank conflicts load of tile"]);
        await close();
    },

    async late() {
        // Late answers: the page says that it works, and gives up what nobody waits for.
        let { page, close } = await show("launch=0", {}, "delay=400");
        await page.evaluate(() => (window.demo.delay = 3600e3)); // what is asked now is not answered by itself
        await page.keyboard.press("w");
        await page.getByRole("button", { name: "store", exact: true }).click();
        await page.waitForSelector(".busy.on");
        await page.evaluate(() => (window.demo.delay = 400));
        await page.getByRole("button", { name: "load", exact: true }).click();
        await settle(page);
        assert.ok((await page.evaluate(() => window.demo.aborted)) >= 3);
        assert.match(await text(page.locator(".matched")), /^4,096 of 4,096/);
        await close();
        // The tour comes once, and can be left at any time.
        const context = await browser.newContext();
        const visit = await context.newPage();
        drawBeforeAsking(visit);
        // Over a link it does not come: who follows one wants to see what it names.
        await visit.goto(`${base}?tour=1#launch=0`);
        await visit.waitForSelector(".view .status");
        await settle(visit);
        assert.equal(await visit.getByRole("dialog").count(), 0);
        assert.equal(await visit.title(), "Warps · #0 transpose_naive · demo – ctascope");
        await visit.goto(`${base}?tour=1`);
        await visit.getByRole("dialog", { name: /Tour, 1 of 5/ }).waitFor();
        await visit.getByRole("button", { name: "Next", exact: true }).click();
        await visit.getByRole("dialog", { name: /Tour, 2 of 5/ }).waitFor();
        await visit.keyboard.press("Escape");
        assert.equal(await visit.getByRole("dialog").count(), 0);
        await visit.reload();
        await visit.waitForSelector(".view .status");
        assert.equal(await visit.getByRole("dialog").count(), 0);
        // By keys alone: Enter goes on to its end, and Tab does not leave it for what lies behind.
        await visit.evaluate(() => localStorage.clear());
        await visit.goto(`${base}?tour=1`);
        await visit.getByRole("dialog", { name: /Tour, 1 of 5/ }).waitFor();
        await visit.waitForFunction(() => document.activeElement.textContent === "Next");
        for (const left of [4, 3, 2, 1, 0]) {
            await visit.keyboard.press("Tab");
            await visit.keyboard.press("Tab");
            assert.ok(
                await visit.evaluate(
                    () => document.activeElement === document.body || !!document.activeElement.closest(".dialog"),
                ),
                "behind the tour",
            );
            await visit.locator(".dialog .primary").focus();
            await visit.keyboard.press("Enter");
            assert.equal(await visit.getByRole("dialog").count(), left ? 1 : 0);
            if (left)
                assert.equal(
                    await visit.evaluate(() => document.activeElement.textContent),
                    left === 1 ? "Close" : "Next",
                );
        }
        await context.close();
        // Millions of rows: the end is as near as the beginning, and only what is seen is asked for.
        ({ page, close } = await show("launch=6&second=none"));
        const bar = pane(page, "warps").locator(".scrollbar");
        await bar.evaluate((element) => (element.scrollTop = element.scrollHeight));
        await settle(page);
        const last = /from row (\d+): record (\d+)/.exec(await canvasOf(page, "warps").getAttribute("aria-label"));
        assert.ok(last && last[1] === last[2] && Number(last[1]) > 3_199_900, String(last));
        const asked = await page.evaluate(
            () => window.demo.asked.filter((what) => what.startsWith("records 6")).length,
        );
        assert.ok(asked <= 8, `asked ${asked} times`);
        await page.mouse.move(600, 400);
        await page.mouse.wheel(0, -200);
        await settle(page);
        const up = /from row (\d+): record (\d+)/.exec(await canvasOf(page, "warps").getAttribute("aria-label"));
        assert.equal(Number(up[1]), Number(last[1]) - 10);
        await close();
    },

    async sizes() {
        // Three sizes, light and dark: nothing sticks out, text is readable on what it stands on.
        const backgrounds = new Set();
        for (const [width, height] of [
            [1280, 720],
            [1920, 1080],
            [3840, 2160],
        ])
            for (const colorScheme of { 1280: ["light", "dark"], 1920: ["dark"], 3840: ["light"] }[width]) {
                const { page, close } = await show("launch=1&record=8&pins=9.1&view=banks&second=warps", {
                    viewport: { width, height },
                    colorScheme,
                });
                assert.ok(
                    await page.evaluate(
                        () =>
                            document.documentElement.scrollWidth <= innerWidth &&
                            document.documentElement.scrollHeight <= innerHeight,
                    ),
                    "the page scrolls",
                );
                const out = await page.evaluate(() =>
                    [
                        ...document.querySelectorAll(
                            ".top, .strip, .left, .right, .centre, .status, .viewtabs button, .head " +
                                ".tools, .choice button, .field input",
                        ),
                    ]
                        .filter((element) => {
                            const box = element.getBoundingClientRect();
                            return (
                                box.right > innerWidth + 1 ||
                                box.bottom > innerHeight + 1 ||
                                box.left < -1 ||
                                (element.closest(".left") &&
                                    box.right > element.closest(".left").getBoundingClientRect().right + 1)
                            );
                        })
                        .map((element) => `${element.className} ${element.textContent.slice(0, 30)}`),
                );
                assert.deepEqual(out, []);
                // Contrast of text with what lies behind it.
                const poor = await page.evaluate(() => {
                    const rgb = (text) => /rgba?\(([^)]+)\)/.exec(text)?.[1].split(",").map(Number) ?? null;
                    const light = (c) =>
                        c
                            .slice(0, 3)
                            .map((v) => v / 255)
                            .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
                            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                    const bad = [];
                    for (const element of document.querySelectorAll(
                        ".view button, .view p, .view span, .view dt, .view dd, .view td, .view h2, .view b",
                    )) {
                        if (!element.textContent.trim() || element.children.length) continue;
                        let behind = element,
                            back = null;
                        while (
                            behind &&
                            !(
                                (back = rgb(getComputedStyle(behind).backgroundColor)),
                                back && (back.length < 4 || back[3] === 1) ? back : (back = null)
                            )
                        )
                            behind = behind.parentElement;
                        const front = rgb(getComputedStyle(element).color);
                        if (!back || !front || getComputedStyle(element).color.includes("color(")) continue;
                        const [a, b] = [light(front), light(back)].sort((x, y) => y - x),
                            ratio = (a + 0.05) / (b + 0.05);
                        if (ratio < 4.4) bad.push(`${element.textContent.slice(0, 20)} ${ratio.toFixed(2)}`);
                    }
                    return bad;
                });
                assert.deepEqual(poor, [], `${width} ${colorScheme}`);
                const buttons = await page.evaluate(
                    () =>
                        [...document.querySelectorAll(".view button")].filter(
                            (b) => !b.textContent.trim() && !b.ariaLabel,
                        ).length,
                );
                assert.equal(buttons, 0, "buttons without a name");
                assert.equal(
                    await page.evaluate(
                        () =>
                            [...document.querySelectorAll(".view canvas")].filter(
                                (c) => !c.ariaLabel && !c.getAttribute("aria-label"),
                            ).length,
                    ),
                    0,
                );
                backgrounds.add(
                    await page.evaluate(() => getComputedStyle(document.querySelector(".view")).backgroundColor),
                );
                await page.screenshot({ path: join(work, `${width}-${colorScheme}.png`) });
                await close();
            }
        assert.equal(backgrounds.size, 2);
    },
};
for (const part of chosen.split(",")) {
    console.log(`${part} ...`); // the last one told is the one that fails
    await parts[part]();
}
await browser.close();
console.log("the page shows what the accesses are");
process.exit(0);
