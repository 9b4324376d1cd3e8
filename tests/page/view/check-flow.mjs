// What passes between launches, on the page and in the report, against `ctascope flow`; and every view under axe:
//     node check-flow.mjs CTASCOPE WORK_DIRECTORY
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { drawn, here, launchBrowser, record, serve, settle, visit } from "./harness.mjs";

const STEPS = 20;
const [ctascope, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const axePath = createRequire(join(here, "../../../web/package.json")).resolve("axe-core/axe.min.js");
const run = record(ctascope, here, work, "flow", []);
const flow = JSON.parse(
    execFileSync(ctascope, ["flow", run, "--format", "json", "--per", "edge,finding,launch", "--limit", "0"]),
);

// Both pages have these: the sentences, the folded loop, links and findings of the analysis.
async function showsTheFlow(section) {
    const boxes = await section
        .locator(".place")
        .evaluateAll((all) =>
            all.map((box) => [...box.querySelectorAll("text")].map((line) => line.textContent.trim())),
        );
    const times = `× ${STEPS}`;
    assert.deepEqual(boxes, [
        ["produce", times],
        ["produce", times],
        ["scale", times],
        ["shift", times],
        ["blur", times],
        ["DtoH", "copy 0"],
    ]);
    assert.deepEqual(await section.locator(".bracket text").allTextContents(), [times]);
    assert.equal(await section.locator(".flow-lanes span").count(), 3); // two streams, and that of the copy
    assert.match(await section.locator(".sentence").first().textContent(), new RegExp(`^Races: ${flow.race_pairs} `));
    await section
        .getByRole("button", { name: /^\d+ more$/ })
        .first()
        .click();
    const shown = await section
        .locator(".finding h3")
        .evaluateAll((titles) => titles.map((title) => title.firstChild.textContent));
    // Races, then what is certain, then what is only possible.
    const rank = ({ finding, certain }) => (finding.endsWith("race") ? 0 : certain ? 1 : 2);
    assert.deepEqual(
        shown,
        [...flow.findings].sort((a, b) => rank(a) - rank(b)).map(({ finding }) => finding),
    );
    assert.equal(await section.locator(".flow-graph .link-line.race").count(), 1);
    // The chains: the program's order has one work more a step than data needs.
    const onChain = () => section.locator(".place.on-chain").count();
    await section.getByLabel("Which chain is outlined").selectOption("none");
    assert.equal(await onChain(), 0);
    await section.getByLabel("Which chain is outlined").selectOption("enforced");
    assert.ok((await onChain()) >= 3);
    await section.getByLabel("data", { exact: true }).uncheck();
    assert.equal(await section.locator(".flow-graph .link-line.true").count(), 0);
    await section.getByLabel("data", { exact: true }).check();
    // Reuse of memory is drawn on demand.
    assert.equal(await section.locator(".flow-graph .link-line.reuse").count(), 0);
    await section.getByLabel("reuse of memory").check();
    assert.ok((await section.locator(".flow-graph .link-line.reuse").count()) > 0);
    await section.getByLabel("reuse of memory").uncheck();
}

// The bytes of a link are those of its edges.
async function sumsOfALink(section) {
    await section.locator(".flow-graph .link-line.race").dispatchEvent("click");
    const chosen = section.locator(".flow-chosen");
    assert.match(await chosen.locator("h3").textContent(), /launch 3 shift → launch 4 blur/);
    const edges = flow.edges.filter((e) => e.from_name.startsWith("shift") && e.race_bytes && e.raw_bytes),
        kib = edges.reduce((sum, e) => sum + e.race_bytes, 0) / 1024;
    assert.equal(edges.length, STEPS);
    assert.ok((await chosen.locator("p").first().textContent()).includes(`${kib} KiB in a race, ${STEPS} times`));
    assert.equal(await chosen.locator("tbody tr").count(), 1);
    assert.equal(await chosen.locator("tbody td").first().textContent(), "z");
}

// From a finding to the graph, from a dependence to the lines, and on to the other views.
async function leadsOn(page, section) {
    await section
        .locator(".finding", { hasText: "race" })
        .first()
        .getByRole("button", { name: "Show in the graph" })
        .click();
    await section.locator(".flow-chosen summary").click();
    await settle(page);
    const lines = await section.locator(".flow-chosen li").allInnerTexts();
    assert.match(lines[0], /^launch 3 writes: flow\.cu:17 16\.0 KiB/);
    assert.match(lines[1], /^launch 4 reads: flow\.cu:22 48\.0 KiB/);
    await section
        .locator(".flow-chosen li")
        .first()
        .getByRole("button", { name: /flow\.cu:17/ })
        .click();
    await settle(page);
    assert.match(await page.title(), /^Source · #3 shift/);
    await page.goBack();
    await settle(page);
    // By keyboard: a box takes the focus and says what it is.
    const box = page.locator(".place").nth(1);
    await box.focus();
    await page.keyboard.press("Enter");
    assert.equal(await box.getAttribute("aria-pressed"), "true");
    assert.match(await box.getAttribute("aria-label"), /^produce × 20, first launch 1: reads 0 B, writes 320 KiB$/);
    assert.match(await page.locator(".flow-chosen p").first().textContent(), /Nothing reads 3\d\d KiB/);
}

async function axeFinds(page, where) {
    await page.evaluate(readFileSync(axePath, "utf8"));
    const { violations } = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ["violations"], rules: { region: { enabled: false } } }),
    );
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${where}: ${id}: ${html.slice(0, 200)}`));
}

const browser = await launchBrowser(),
    found = [];
const { address, end } = await serve(ctascope, run),
    { page, close } = await visit(browser, `${address}#view=flow`);
await showsTheFlow(page.locator(".pane[data-view=flow]"));
await sumsOfALink(page.locator(".pane[data-view=flow]"));
await leadsOn(page, page.locator(".pane[data-view=flow]"));
// Who wrote bytes of z and who read them: all launches, from the selected bytes.
const z = Number(flow.edges.find((e) => e.variable === "z").first_address);
await page.goto(`${address}#launch=4&view=addresses&bytes=global:0x${z.toString(16)}-0x${(z + 3).toString(16)}`);
await settle(page);
await page.locator(".history summary").click();
await settle(page);
const users = await page.locator(".history li").allInnerTexts(),
    said = users.map((user) => user.replace(/\s+/g, " ").trim());
// Element 0 of z: shift writes it, and one thread of blur reads it.
assert.equal(said.length, 2 * STEPS);
assert.match(said[0], /^#3 shift writes flow\.cu:17 · 1 lane · z$/);
assert.match(said[1], /^#4 blur reads flow\.cu:22 · 1 lane · z$/);
found.push(...(await axeFinds(page, "history")));
await page.locator(".history li button").nth(2).click();
await settle(page);
assert.match(await page.title(), /^Warps · #8 shift/);
// The findings of the whole run have them, too: races first.
await page.getByRole("tab", { name: "Findings" }).click();
await page.getByRole("radio", { name: "whole run" }).click();
await settle(page);
const listed = await page
    .locator(".pane[data-view=findings] .finding")
    .evaluateAll((cards) => cards.map((card) => [card.dataset.about, card.querySelector("h3").firstChild.textContent]));
assert.deepEqual(listed[0], ["flow", "race"]);
assert.ok(listed.filter(([about, finding]) => about === "flow" && finding !== "race").length >= 3, String(listed));
// One of them leads to its two boxes and the line between them in the graph.
for (const [finding, boxes] of [
    ["race", ["shift", "blur"]],
    ["fusion", ["produce", "scale"]],
]) {
    await page.getByRole("tab", { name: "Findings" }).click();
    await settle(page);
    await page
        .locator(".finding[data-about=flow]", { hasText: finding })
        .first()
        .getByRole("button", { name: "Show in the graph" })
        .click();
    await settle(page);
    const chosen = page.locator(".pane[data-view=flow] .place.chosen");
    assert.deepEqual(
        await chosen.evaluateAll((all) => all.map((box) => box.querySelector("text").textContent.trim())),
        boxes,
    );
    assert.equal(await page.locator(".flow-graph .link-line.chosen").count(), 1);
}
for (const view of await page.locator(".viewtabs [role=tab]").all()) {
    await view.click();
    await settle(page);
    found.push(...(await axeFinds(page, await view.innerText())));
}
await page.emulateMedia({ colorScheme: "dark" });
await settle(page);
found.push(...(await axeFinds(page, "dark")));
await page.keyboard.press("?");
await drawn(page);
found.push(...(await axeFinds(page, "help")));
await close();
end();

const report = join(work, "flow.html"),
    written = await browser.newPage();
execFileSync(ctascope, ["report", run, "-o", report], { stdio: ["ignore", "ignore", "pipe"] });
await written.goto(pathToFileURL(report).href);
const section = written.locator(".card.flow");
await section.locator(".place").first().waitFor();
await showsTheFlow(section);
await sumsOfALink(section);
await written.locator(".card.findings .finding[data-about=flow] button.link").first().click();
assert.equal(await section.locator(".place.chosen").count(), 2);
found.push(...(await axeFinds(written, "report")));
await browser.close();
assert.deepEqual(found, []);
console.log("the flow is that of the analysis, in the page and the report; axe finds nothing");
process.exit(0);
