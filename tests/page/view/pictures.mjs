// Makes the pictures of docs/view.md and of README.md from examples:
//     node pictures.mjs CTASCOPE EXAMPLES WORK_DIRECTORY DOCS_PICTURES
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { here, launchBrowser, record, serve, settle, visit } from "./harness.mjs";

const [ctascope, examples, work, pictures] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
const browser = await launchBrowser(),
    size = { width: 1440, height: 810 };

async function take(name, address, prepare = async () => undefined, viewport = size) {
    const { page, close } = await visit(browser, address, { viewport });
    await settle(page, 300);
    await prepare(page);
    await settle(page, 300);
    await page.screenshot({ path: join(pictures, name) });
    await close();
}
const hoverWarps = async (page, lane, row) => {
    const canvas = page.locator(".pane[data-view=warps] canvas"),
        box = await canvas.boundingBox();
    const wide = box.width > 620,
        lanes = wide ? 396 : 290,
        cost = wide ? 92 : 70,
        cell = Math.max(4, Math.min(22, Math.floor(((box.width - lanes - cost - 8) / 32) * 2) / 2));
    await page.mouse.move(box.x + lanes + (lane + 0.5) * cell, box.y + 22 + 20 * row + 10);
};

const transpose = await serve(ctascope, record(ctascope, examples, work, "transpose", []));
await take("view-overview.png", `${transpose.address}#launch=0&view=source&second=warps&record=1&split=58&at=15`);
await take(
    "view-banks.png",
    `${transpose.address}#launch=1&view=banks&space=shared&op=load&second=none`,
    async (page) => {
        // The first load from the tile, and the same of the padded one.
        await page.keyboard.press("ArrowDown");
        await page.getByRole("button", { name: "Compare with…" }).click();
        await page.getByLabel("Launch to compare with").selectOption("2");
        await settle(page);
        await page.locator(".picking .actions button", { hasText: "load" }).click();
    },
);
transpose.end();

const reduction = await serve(ctascope, record(ctascope, examples, work, "reduction", ["65536"]));
await take(
    "view-warps.png",
    `${reduction.address}#launch=0&view=warps&cta=0&space=shared&second=banks&banks=stacks&split=55`,
    async (page) => {
        await page.keyboard.press("ArrowDown");
        for (let i = 0; i < 14; i++) {
            await page.keyboard.press("ArrowDown");
            await settle(page, 60);
        }
        await hoverWarps(page, 4, 6);
    },
);
reduction.end();

const structs = await serve(ctascope, record(ctascope, examples, work, "structs", ["4096"]));
await take(
    "view-addresses.png",
    `${structs.address}#launch=0&view=warps&second=addresses&record=0&pins=0.0,0.1,0.2,1.0,1.1&split=34`,
    async (page) => {
        await page.getByRole("button", { name: "Zoom to selection" }).click();
        await settle(page);
    },
);
structs.end();

const flow = await serve(ctascope, record(ctascope, here, work, "flow", []));
await take("view-flow.png", `${flow.address}#view=flow`, (page) =>
    page.locator(".flow-graph .link-line.race").dispatchEvent("click"),
);
flow.end();
// The report: of memory, and of time.
async function takeReport(name, run, height, section = undefined) {
    const file = join(work, `${name}.html`);
    execFileSync(ctascope, ["report", run, "-o", file], { stdio: "ignore" });
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: "light" });
    await page.goto(pathToFileURL(file).href);
    await page.waitForLoadState("networkidle");
    if (section)
        await page
            .locator(`text="${section}" >> visible=true`)
            .last()
            .evaluate((title) => title.scrollIntoView());
    await settle(page, 500);
    await page.screenshot({ path: join(pictures, name) });
    await page.close();
}
const bfs = record(ctascope, examples, work, "bfs", []);
// Again, as a user types it: the page shows the command line.
execFileSync(resolve(ctascope), ["record", "--force", "-o", resolve(bfs), "--", "./bfs"], {
    stdio: "ignore",
    cwd: work,
});
await takeReport("report.png", bfs, 1900);
await takeReport("timeline.png", join(examples, "timeline/pipeline-h100/traces.otf2"), 1000, "Timeline");
await browser.close();
process.exit(0);
