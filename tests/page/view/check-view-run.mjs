// The page over `ctascope view`, on examples that it records: closed forms end to end.
//     node check-view-run.mjs PART CTASCOPE EXAMPLES WORK_DIRECTORY, a part of those below
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
    here,
    launchBrowser,
    load,
    pageTimer,
    record as recordWith,
    serve as serveWith,
    settle,
    stateOf,
    visit as visitWith,
} from "./harness.mjs";

const [part, ctascope, examples, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const { bankCost, sectorCost } = await load(join(here, "../../../web/src/view/requests.ts"));
const { decodeColumns } = await load(join(here, "../../../web/src/view/columns.ts"));
const text = (locator) => locator.innerText().then((t) => t.replace(/\s+/g, " "));
const pane = (page, name) => page.locator(`.pane[data-view=${name}]`);

const ask = async (address, question) => {
    const response = await fetch(`${address}api/${question}`);
    assert.equal(response.status, 200, question);
    return response;
};

// What the server says of every record is what the page's arithmetic says.
async function agree(address, launch, count) {
    const run = await (await ask(address, "run")).json(),
        { bankBytes } = await (await ask(address, `launch?launch=${launch}`)).json();
    const sites = new Map(run.sites.map((site) => [site.site, site]));
    const { columns } = decodeColumns(
        await (await ask(address, `records?launch=${launch}&from=0&count=${count}`)).arrayBuffer(),
    );
    const [, , , site, space, mask, addresses, sectors, idealSectors, wavefronts, idealWavefronts] = columns;
    for (let i = 0; i < mask.length; i++) {
        const at = addresses.subarray(32 * i, 32 * i + 32),
            { width, operation } = sites.get(site[i]);
        const shared = space[i] === 3,
            banks = shared
                ? bankCost(at, mask[i], width, bankBytes, operation === "load")
                : { wavefronts: 0, ideal: 0 },
            cost = shared
                ? { sectors: 0, ideal: 0 }
                : sectorCost(at, mask[i], width, space[i] === 5 ? "local" : "global");
        assert.deepEqual(
            [sectors[i], idealSectors[i], wavefronts[i], idealWavefronts[i]],
            [cost.sectors, cost.ideal, banks.wavefronts, banks.ideal],
            `record ${i} of launch ${launch}`,
        );
    }
    return mask.length;
}

const browser = await launchBrowser();
const record = (name, args, options) => recordWith(ctascope, examples, work, name, args, options);
const serve = (...runs) => serveWith(ctascope, ...runs);
const visit = (address) => visitWith(browser, address);

// A store of the naive way; the host filled the matrix with its indices.
async function oneStore(address) {
    const { page, close } = await visit(`${address}#launch=0&op=store&second=none`);
    assert.match(await text(page.locator(".matched")), /^2,048 of 4,096/);
    await page.keyboard.press("ArrowDown");
    await settle(page);
    assert.match(await text(page.locator(".selected .cost")), /32 sectors, ideal: 4 128 of 1024 B used/);
    assert.equal(await text(page.locator(".lanetable tbody tr").nth(2)), "2 2, 0 d_out[512] 2");
    assert.match(await text(page.locator(".note")), /32\.00 sectors per request where 4\.00 would do/);
    await close();
}

// What the filter lets through, saved: the accesses that 'ctascope export' writes of it.
async function savedAsCsv(address, run) {
    const { page, close } = await visit(`${address}#launch=1&cta=3&op=load&space=shared&second=none`);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as CSV" }).click();
    const path = join(work, "saved.csv"),
        exported = join(work, "exported.csv");
    await (await saved).saveAs(path);
    execFileSync(
        ctascope,
        [
            "export",
            run,
            "-o",
            exported,
            "--format",
            "csv",
            "--launch",
            "1",
            "--cta",
            "3",
            "--operation",
            "load",
            "--space",
            "shared",
        ],
        { stdio: "ignore" },
    );
    const [told, wanted] = [path, exported].map((name) =>
        readFileSync(name, "utf8")
            .trim()
            .split("\n")
            .map((line) => line.replace(/^(1,"[^"]*"),\d+,/, "$1,").replace(/,0x0*(?=[\da-f])/g, ",0x"))
            .sort(),
    );
    assert.equal(told.length, 32 * 32 + 1);
    assert.deepEqual(told, wanted);
    await close();
}

// Banks before and after: chosen as a person does.
async function banksCompared(address) {
    const { page, close } = await visit(`${address}#launch=1&view=banks&space=shared&op=load&second=none`);
    await page.keyboard.press("ArrowDown");
    await settle(page);
    await page.getByRole("button", { name: "Compare with…" }).click();
    await page.getByRole("radio", { name: "this run" }).click();
    await page.getByLabel("Launch to compare with").selectOption("2");
    await settle(page);
    await page.locator(".picking .actions button", { hasText: "load" }).click();
    await settle(page);
    assert.deepEqual(await pane(page, "banks").locator(".verdict").allTextContents(), [
        "32-way conflict 32 wavefronts, ideal: 1",
        "no conflict 1 wavefront, ideal: 1",
    ]);
    const { compare } = await stateOf(page);
    assert.match(compare, /^this:2:\d+$/);
    // The same of another run.
    await page.goto(
        `${address}#launch=1&view=banks&record=${(await stateOf(page)).record}&compare=` +
            `${compare.replace("this", "other")}&second=none`,
    );
    await page.reload();
    await settle(page);
    assert.match((await pane(page, "banks").locator(".verdict").allTextContents())[1], /^no conflict/);
    // Findings and their instance, the source, the diff, the communication, the order.
    await page.keyboard.press("1");
    await settle(page);
    assert.match(
        await text(page.locator(".finding").first()),
        /bank conflicts load of tile transpose.cu:31 in transpose_tiled<32>/,
    );
    await page.getByRole("button", { name: "Show an example" }).first().click();
    await settle(page);
    assert.match((await pane(page, "banks").locator(".verdict").allTextContents())[0], /^32-way conflict/);
    await page.getByRole("tab", { name: "Source" }).click();
    await settle(page);
    assert.match(await text(page.locator(".codeline[data-line='31']")), /bank conflicts 31 if/);
    await page.getByRole("tab", { name: "Diff" }).click();
    await settle(page);
    assert.match(
        await text(pane(page, "diff")),
        /Both runs have the same findings.* transpose_naive same in both runs/,
    );
    await page.getByRole("tab", { name: "Communication" }).click();
    await page.waitForSelector(".communication .tile");
    assert.equal(await page.locator(".communication .tile b").first().innerText(), "3");
    assert.match(await text(page.locator(".communication")), /Split over several GPUs/);
    assert.ok(
        (await page.locator(".communication figure, .communication canvas, .communication svg").count()) > 2,
        "no plots",
    );
    await page.getByRole("tab", { name: "Order" }).click();
    await settle(page);
    assert.match(await pane(page, "order").locator("canvas").getAttribute("aria-label"), /: [\d,]{3,} of [\d,]+ dots$/);
    await close();
}

// A launch in a file of its own shows the same, with nobody to ask.
async function launchInAFile(run) {
    const file = join(work, "launch.html");
    execFileSync(ctascope, ["report", run, "--accesses", "--launch", "1", "-o", file], {
        stdio: ["ignore", "ignore", "pipe"],
    });
    const { page, close } = await visit(`${pathToFileURL(file)}#launch=1&view=banks&record=64&second=warps`);
    assert.match(await text(pane(page, "warps").locator(".head")), /^8,192 requests/);
    assert.match(await text(pane(page, "banks").locator(".verdict")), /^32-way conflict 32 wavefronts, ideal: 1/);
    assert.match(await text(page.locator(".lanetable tbody tr").nth(2)), /^2 2, 0 tile\[64\] \d+$/);
    assert.equal(await page.getByRole("tab", { name: "Communication" }).count(), 0);
    await page.keyboard.press("4");
    await settle(page);
    assert.match(
        await pane(page, "addresses").locator("canvas").last().getAttribute("aria-label"),
        /^tile: .* 1,024 cells touched$/,
    );
    await close();
}

// Accesses that come, and files that change under the page.
async function accessesThatCome(run) {
    const grown = join(work, "grown.run"),
        later = join(work, "later");
    for (const path of [grown, later]) rmSync(path, { recursive: true, force: true });
    cpSync(run, grown, { recursive: true });
    renameSync(join(grown, "rank-0"), later);
    mkdirSync(join(grown, "rank-0"));
    const { address, end } = await serve(grown),
        context = await browser.newContext();
    await context.addInitScript(() => localStorage.setItem("ctascope-tour", "seen"));
    const page = await context.newPage();
    await page.goto(`${address}#view=warps`);
    await page.waitForSelector(".whole .missing");
    assert.match(
        await text(page.locator(".whole")),
        /No memory accesses in this run .*grown.run' has 2 launches and no memory accesses\. .*To record them: ctascope record -o RUN -- /,
    );
    for (const name of readdirSync(later)) renameSync(join(later, name), join(grown, "rank-0", name));
    // The server looks once a second, or less often if it has no time.
    const again = page.getByRole("button", { name: "Try again" });
    while (!(await page.locator(".view .status").count())) {
        if (await again.count()) await again.click({ timeout: 1000 }).catch(() => {});
        await pageTimer(page, 200);
    }
    assert.match(await text(pane(page, "warps").locator(".head")), /^256 requests/);
    await page.keyboard.press("2");
    await settle(page);
    assert.equal(await page.locator(".changed").count(), 0);
    // The catalogue's file is another one: the next question tells, once the server has looked again.
    // The page keeps answers, so that each view that was not open yet asks once.
    utimesSync(join(grown, "run.db"), new Date(), new Date());
    for (const key of ["8", "3", "4", "5", "6", "7"]) {
        if (await page.locator(".changed").count()) break;
        await pageTimer(page, 1500);
        await page.keyboard.press(key);
        await settle(page);
    }
    await page.getByRole("button", { name: "Reload the run" }).click();
    await page.waitForSelector(".view .status");
    await settle(page);
    await page.keyboard.press("4");
    await settle(page);
    assert.equal(await page.locator(".changed").count(), 0);
    await context.close();
    end();
}

// Damaged: what cannot be read is not said to be missing, and the warnings tell the place.
async function damaged(run) {
    const bad = join(work, "bad.run");
    rmSync(bad, { recursive: true, force: true });
    cpSync(run, bad, { recursive: true });
    const spoilt = readdirSync(join(bad, "rank-0")).map((name) => join(bad, "rank-0", name));
    for (const name of spoilt) {
        const bytes = readFileSync(name);
        bytes[32 + 80 + 20] ^= 0x55;
        writeFileSync(name, bytes);
    }
    const damaged = await serve(bad);
    for (const view of ["warps", "addresses", "banks", "sectors", "conflicts", "order"]) {
        const { page: torn, close } = await visit(`${damaged.address}#launch=0&view=${view}&second=none`);
        assert.match(
            await text(pane(torn, view)),
            /The accesses of this launch cannot be read\. The file is damaged/,
            view,
        );
        assert.match(await text(torn.locator(".matched")), /^256 requests, 256 of them unreadable/);
        await torn.locator(".warned").click();
        assert.match(
            await text(torn.locator(".popup.warnings")),
            /left out; the first: .*\.acc.* 256 of the 256 requests of this launch cannot be read/,
        );
        await close();
    }
    damaged.end();
}

// A sample of the CTAs is not all of them.
async function sampled() {
    const part = join(work, "part.run");
    rmSync(part, { recursive: true, force: true });
    execFileSync(ctascope, ["record", "--cta-sample", "4", "-o", part, "--", join(work, "structs"), "4096"], {
        stdio: ["ignore", "ignore", "pipe"],
    });
    const sampled = await serve(part),
        { page: few, close: leave } = await visit(`${sampled.address}#launch=0`);
    assert.equal(await text(few.locator(".matched")), "64 requests, from a sample of the CTAs");
    await leave();
    sampled.end();
}

// Imported without metadata: it has the folder's name, not ctascope's, and says why there is no source.
async function importedWithoutMetadata(run) {
    const folder = join(work, "traces"),
        bare = join(work, "bare.run");
    for (const path of [folder, bare]) rmSync(path, { recursive: true, force: true });
    execFileSync(ctascope, ["export", run, "-o", folder, "--format", "json"], { stdio: "ignore" });
    for (const name of readdirSync(folder)) if (name.endsWith(".metadata.json")) rmSync(join(folder, name));
    execFileSync(ctascope, ["import", folder, "-o", bare], { stdio: "ignore" });
    const imported = await serve(bare),
        { page: plain, close: done } = await visit(`${imported.address}#view=source&second=warps`);
    assert.match(
        await text(pane(plain, "source")),
        /no source locations\. The imported files do not contain any\. In a trace folder they come from KERNEL\.metadata\.json/,
    );
    assert.match(await text(pane(plain, "warps").locator(".head")), /^256 requests/);
    assert.equal(await text(plain.locator("h1")), "bare.run");
    await done();
    imported.end();
}

// Thousands of launches, whose numbers have a gap: a list of some, and from one to the next.
async function thousandsOfLaunches(run) {
    const many = join(work, "many.run");
    rmSync(many, { recursive: true, force: true });
    cpSync(run, many, { recursive: true });
    execFileSync("sqlite3", [
        join(many, "run.db"),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO launches " +
            "SELECT 1000 + i, rank, 100000 + i, device, stream, 100 + i, kernel, grid_x, grid_y, " +
            "grid_z, block_x, block_y, block_z, dynamic_shared_bytes, cooperative, recorded, " +
            "call_ns, start_ns, end_ns, 0, 0, 0 FROM launches, n WHERE launch = 1",
    ]);
    const { address: others, end: stop } = await serve(many),
        { page: list, close } = await visit(`${others}#launch=1`);
    for (const [key, launch] of [
        ["]", "1001"],
        ["]", "1002"],
        ["[", "1001"],
        ["[", "1"],
        ["[", "0"],
        ["[", "0"],
    ]) {
        await list.keyboard.press(key);
        await settle(list);
        assert.equal((await stateOf(list)).launch, launch);
    }
    await list.locator(".picker").click();
    for (const rows of [100, 500, 900, 1000]) {
        await settle(list);
        assert.equal(await list.locator(".launches [role=option]").count(), rows);
        if (rows < 1000) await list.locator(".launches .more").click();
    }
    assert.match(await text(list.locator(".launches .more")), /^2,002 more launches: search for a kernel/);
    await close();
    stop();
}

// Structs: a lane every 24 bytes, of which 8 are read.
async function fieldsOfStructs() {
    const { address, end } = await serve(record("structs", ["4096"]));
    const { page, close } = await visit(`${address}#launch=0&record=0&view=addresses&second=warps`);
    assert.equal(await page.getByLabel("Bytes of a struct").inputValue(), "24");
    assert.match(await pane(page, "addresses").locator("canvas").last().getAttribute("aria-label"), /: 6 columns by /);
    assert.match(
        await text(page.locator(".selected")),
        /strided: 24 B from lane to lane 24 sectors, ideal: 8 256 of 768 B used/,
    );
    await page.getByRole("button", { name: "Sectors", exact: true }).click();
    await settle(page);
    assert.match(
        await text(pane(page, "sectors").locator(".verdict")),
        /^24 sectors ideal: 8 .* 256 of 768 B transferred are used \(33.3%\)/,
    );
    await close();
    assert.ok((await agree(address, 0, 4096)) > 0);
    end();
}

// Two fields on one line: a request has the finding of its own field, of a struct of which five bytes are used.
async function twoFieldsOfALine() {
    writeFileSync(
        join(work, "fields.cu"),
        "struct P { float x; double y; char z; };\n__global__ void store(P *p) { p[threadIdx.x].x = " +
            "1; p[threadIdx.x].z = 2; }\n" +
            "int main() { P *p; cudaMalloc(&p, 32 * sizeof *p); store<<<1, 32>>>(p); return " +
            "cudaDeviceSynchronize() != cudaSuccess; }\n",
    );
    const { address, end } = await serve(recordWith(ctascope, work, work, "fields", []));
    for (const [index, field] of [
        [0, 4],
        [1, 1],
    ]) {
        const { page, close } = await visit(`${address}#launch=0&record=${index}&second=none`);
        await page.waitForSelector(".note");
        assert.deepEqual(await page.locator(".note p:first-of-type").allInnerTexts(), [
            `neighbouring lanes are 24 bytes apart and use ${field} of them (the kernel uses 5); ` +
                `24.00 sectors per request where ${field}.00 would do`,
        ]);
        await close();
    }
    end();
}

// Histogram: atomics on counters that all warps share.
async function sharedCounters() {
    const { address, end } = await serve(record("histogram", ["1", "8"]));
    const { page, close } = await visit(`${address}#launch=0&view=conflicts&op=atomic&space=shared&second=none`);
    await settle(page);
    assert.ok(
        (await pane(page, "conflicts").locator("tbody .tone").allTextContents()).every((kind) => kind === "atomics"),
    );
    await page.locator(".conflicts tbody button").first().click();
    await page.locator(".conflicts .touches button").first().click();
    await settle(page);
    assert.match(await text(page.locator(".selected")), /atomic add 4 B shared/);
    await close();
    assert.ok((await agree(address, 0, 16384)) > 0);
    end();
}

// Reduction: the first way's conflicts double from step to step, doubles in two phases of 16 lanes.
async function stepsOfReduction() {
    const { address, end } = await serve(record("reduction", ["65536"]));
    const { page, close } = await visit(`${address}#launch=0&view=warps&space=shared&second=banks`);
    await settle(page);
    // Banks open on the worst conflict; the first request is one of two phases.
    assert.match(await text(pane(page, "banks")), /worst conflict.* 8-way conflict 8 wavefronts, ideal: 1/);
    await page.keyboard.press("ArrowDown");
    await settle(page);
    assert.match(await text(pane(page, "banks")), /2 phases of 16 lanes/);
    // Step by step: lane k of 64 / step reads the double at 2 * step * k.
    const row = (lanes, step) =>
        bankCost(
            Array.from({ length: 32 }, (_, k) => 16 * step * k),
            2 ** lanes - 1,
            8,
            4,
            true,
        );
    const steps = [1, 2, 4, 8, 16, 32, 64].map((step) => row(Math.min(32, 64 / step), step));
    assert.deepEqual(
        steps.map((cost) => cost.wavefronts),
        [4, 8, 8, 8, 4, 2, 1],
    );
    await page.goto(`${address}#launch=0&view=banks&second=none&cta=0&warp=0&op=store&line=0:33`);
    await page.reload();
    await settle(page);
    assert.deepEqual(
        await page.locator(".executions button").evaluateAll((list) => list.map((button) => button.ariaLabel)),
        steps.map(
            (cost, i) =>
                `Execution ${i + 1}: ${cost.wavefronts} wavefront${cost.wavefronts === 1 ? "" : "s"}` +
                `, ideal: ${cost.ideal}`,
        ),
    );
    await page.locator(".executions button").nth(3).click();
    await settle(page);
    assert.match(await text(pane(page, "banks").locator(".verdict")), /^8-way conflict 8 wavefronts, ideal: 1/);
    await close();
    assert.ok((await agree(address, 0, 16384)) > 0);
    end();
}

// Stencil: the line's bytes are those of its requests, and rows follow each other in the order.
async function rowsOfStencil() {
    const { address, end } = await serve(record("stencil2d", ["128", "2"]));
    const { page, close } = await visit(`${address}#launch=0&view=source&second=order`);
    await settle(page);
    const { rows } = await (await ask(address, "lines?source=0&launch=0")).json();
    const shown = await page
        .locator(".codeline.hot")
        .evaluateAll((lines) => lines.map((line) => Number(line.dataset.line)));
    assert.deepEqual(
        shown,
        rows.map((row) => row.line).sort((a, b) => a - b),
    );
    await close();
    assert.ok((await agree(address, 0, 16384)) > 0);
    end();
}

const parts = {
    async transpose() {
        const run = record("transpose", ["256"], ["--values"]),
            { address, end } = await serve(run, run);
        // Naive, with 32-way conflicts, padded: 8 * 8 CTAs of 8 warps, 4 rows each.
        assert.deepEqual(
            [await agree(address, 0, 16384), await agree(address, 1, 16384), await agree(address, 2, 16384)],
            [4096, 8192, 8192],
        );
        await oneStore(address);
        await savedAsCsv(address, run);
        await banksCompared(address);
        end();
        await launchInAFile(run);
    },

    // Of time alone, the report's page of it is served; of time and accesses, it is beside the view.
    // With a timeline, a finding about accesses can save at most its share of its kernel's share of the path; an
    // activity its share.
    async gains() {
        record("transpose", []);
        const run = join(work, "both.run");
        rmSync(run, { recursive: true, force: true });
        execFileSync(ctascope, ["record", "--timeline", "--memory", "-o", run, "--", join(work, "transpose")], {
            stdio: ["ignore", "ignore", "pipe"],
        });
        const say = (...args) => JSON.parse(execFileSync(ctascope, [...args, "--format", "json"]));
        const { activities } = say("path", run),
            { findings } = say("access", run);
        const shareOf = (name) => activities.find(({ activity }) => activity === name)?.path_share ?? 0;
        const { address, end } = await serve(run);
        const told = await (await fetch(`${address}api/run-findings`)).json();
        end();
        assert.deepEqual([told.basis, told.missing], ["the run's time", []]);
        const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);
        const accesses = told.rows.filter((row) => row.about === "access");
        assert.equal(accesses.length, findings.length);
        for (const row of accesses) {
            const finding = findings.find(({ evidence }) => evidence === row.evidence);
            near(row.gain, finding.share * shareOf(row.kernel));
            assert.ok(row.gain > 0);
        }
        const times = told.rows.filter((row) => row.about === "time");
        for (const row of times) near(row.gain, shareOf(row.activity));
        assert.ok(times.some((row) => row.order === "change"));
        // Kernels whose accesses are known come last.
        const kernels = times.filter((row) => row.kernel);
        assert.deepEqual(new Set(kernels.map((row) => row.order)), new Set(["elsewhere"]));
        const shown = activities.filter((it) => it.activity.startsWith("transpose_") && it.path_share >= 0.001);
        assert.equal(kernels.length, shown.length);
        const gains = told.rows.filter((row) => row.order === "change").map((row) => row.gain);
        assert.deepEqual(
            gains,
            [...gains].sort((a, b) => b - a),
        );
        // A run of time alone says how to record accesses.
        execFileSync(ctascope, ["record", "--timeline", "--force", "-o", run, "--", join(work, "transpose")], {
            stdio: ["ignore", "ignore", "pipe"],
        });
        const report = join(work, "time.html");
        execFileSync(ctascope, ["report", run, "-o", report], { stdio: "ignore" });
        const page = await browser.newPage();
        await page.goto(pathToFileURL(report).href);
        assert.match(await page.locator(".missing code").textContent(), /^ctascope record -o RUN -- .*transpose$/);
        // Of the kernel that took longest: which one depends on the machine, and small ones are folded.
        assert.match(
            await text(page.locator(".finding", { hasText: /transpose_(naive|tiled)/ }).first()),
            /record its memory accesses/,
        );
        await page.close();
    },

    // Names of 450 characters: short ones that differ, the full one in the title, no sideways scrolling. The eight
    // copies of an unrolled load are one hit and one chip.
    async names() {
        const run = recordWith(ctascope, here, work, "long-names", []);
        const { address, end } = await serve(run);
        const { page, close } = await visit(address);
        const code = page.locator(".finding .where code").first(),
            full = await code.getAttribute("title"),
            short = await code.innerText();
        assert.ok(full.length > 400 && short.length < 60 && /^epilogue_with/.test(short), short);
        await page.locator(".picker").click();
        await page.locator(".launches [role=option] code").nth(5).waitFor();
        const names = await page.locator(".launches [role=option] code").allInnerTexts();
        assert.deepEqual([names.length, new Set(names).size], [6, 2]); // the two differ at their ends
        await page.keyboard.press("Escape");
        for (const name of ["Findings", "Source", "Warps", "Addresses", "Sectors", "Conflicts", "Order"]) {
            await page.getByRole("tab", { name }).click();
            await settle(page);
            const [wide, room] = await page.evaluate(() => {
                const root = document.documentElement;
                const parts = [...document.querySelectorAll(".top, .findings, .pane > .head, .left, .right")];
                return [
                    Math.max(root.scrollWidth - innerWidth, ...parts.map((it) => it.scrollWidth - it.clientWidth)),
                    root.clientWidth,
                ];
            });
            assert.ok(wide <= 1, `${name}: ${wide} pixels wider than ${room}`);
        }
        await page.keyboard.press("/");
        await page.keyboard.type("long-names.cu:");
        await settle(page);
        const hits = (await page.locator(".search [role=option]").allInnerTexts()).map((hit) =>
            hit.replace(/\s+/g, " "),
        );
        assert.deepEqual(
            hits.filter((hit) => /^site/.test(hit)),
            ["site long-names.cu:30 load 4 B of in × 8", "site long-names.cu:31 store 4 B of out"],
        );
        await page.keyboard.press("Enter");
        await settle(page);
        assert.deepEqual(
            (await page.locator(".chip span").allInnerTexts()).map((chip) => chip.trim()),
            ["long-names.cu:30 load of in × 8"],
        );
        await close();
        end();
        const report = join(work, "names.html");
        execFileSync(ctascope, ["report", run, "-o", report], { stdio: "ignore" });
        const paper = await browser.newPage({ viewport: { width: 1280, height: 720 } });
        await paper.goto(pathToFileURL(report).href);
        assert.ok((await paper.locator(".finding .where code").first().innerText()).length < 60);
        assert.ok(await paper.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        await paper.close();
    },

    async time() {
        record("pipeline", []);
        const pathOf = (name) => join(work, `${name}.run`),
            options = { time: ["--timeline"], both: ["--timeline", "--memory"] };
        for (const [name, more] of Object.entries(options)) {
            rmSync(pathOf(name), { recursive: true, force: true });
            execFileSync(ctascope, ["record", ...more, "-o", pathOf(name), "--", join(work, "pipeline")], {
                stdio: ["ignore", "ignore", "pipe"],
            });
        }
        const archive = join(pathOf("time"), "timeline", "traces.otf2"),
            trouble = [];
        const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
        await context.addInitScript(() => localStorage.setItem("ctascope-tour", "seen"));
        context.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
        context.on("weberror", (error) => trouble.push(String(error.error())));
        const shown = async (page) => {
            await page.waitForSelector(".timeline canvas, canvas");
            const told = await text(page.locator("body"));
            assert.match(told, /Its critical path is .* Timeline 1 process, 4 threads and streams, \d+ events/);
            return told;
        };
        const tell = { archive: null, time: null };
        for (const [name, path] of [
            ["archive", archive],
            ["time", pathOf("time")],
        ]) {
            const { address, end } = await serve(path),
                page = await context.newPage();
            await page.goto(address);
            tell[name] = (await shown(page)).replace(/^.*?(?=The run takes)/, "");
            // There is nothing to ask, and who lacks the token gets nothing.
            for (const [question, status] of [
                ["api/run", 404],
                ["time", 200],
                ["other/api/run", 404],
                ["../", 403],
            ])
                assert.equal((await fetch(`${address}${question}`)).status, status, `${name} ${question}`);
            const answers = await Promise.all([fetch(address), fetch(address)]),
                nonces = answers.map(
                    (answer) => /'nonce-(\w{32})'/.exec(answer.headers.get("content-security-policy"))[1],
                );
            const [first] = await Promise.all(answers.map((answer) => answer.text()));
            assert.ok(
                nonces[0] !== nonces[1] && first.includes(`<script nonce="${nonces[0]}">`) && !first.includes("@@"),
            );
            await page.close();
            end();
        }
        assert.equal(tell.archive, tell.time); // the same events
        // Both: the view, and a tab for the time, made when it is asked for.
        const { address, end } = await serve(pathOf("both")),
            page = await context.newPage();
        await page.goto(address);
        await page.waitForSelector(".view .status");
        const [tab] = await Promise.all([
            context.waitForEvent("page"),
            page.getByRole("link", { name: "Time ↗" }).click(),
        ]);
        await shown(tab);
        assert.equal(new URL(tab.url()).pathname, `${new URL(address).pathname}time`);
        await tab.close();
        // Accesses alone have no such page; two of time cannot be compared.
        const plain = await serve(join(work, "pipeline.run"));
        await page.goto(plain.address);
        end(); // nobody asks it any more
        await page.waitForSelector(".view .status");
        assert.equal(await page.getByRole("link", { name: "Time" }).count(), 0);
        assert.equal((await fetch(`${plain.address}time`)).status, 404);
        await context.close();
        plain.end();
        assert.deepEqual(trouble, []);
        for (const [runs, status, why] of [
            [[archive, pathOf("both")], 2, /is a timeline and has no accesses to compare/],
            [[pathOf("both"), archive], 1, /is an OTF2 archive, which holds no accesses/],
        ]) {
            const refused = spawnSync(ctascope, ["view", ...runs, "--no-open"], { encoding: "utf8", timeout: 1200000 });
            assert.equal(refused.status, status, refused.stderr);
            assert.match(refused.stderr, why);
        }
    },

    // A run that grows while it is viewed; and runs that are not whole, or long.
    async growing() {
        const run = record("structs", ["4096"]);
        await accessesThatCome(run);
        await damaged(run);
        await sampled();
        await importedWithoutMetadata(run);
        await thousandsOfLaunches(run);
    },

    async examples() {
        await fieldsOfStructs();
        await twoFieldsOfALine();
        await sharedCounters();
        await stepsOfReduction();
        await rowsOfStencil();
    },
};
await parts[part]();
await browser.close();
console.log(`${part}: the page shows what the run holds`);
process.exit(0);
