// A page with a launch in it answers as the server does: the same questions to both.
//     node embedded.mjs CTASCOPE RUN GENERATE PROGRAMS WORK_DIRECTORY
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const here = dirname(fileURLToPath(import.meta.url)),
    web = join(here, "../../web");
const { build } = createRequire(join(web, "package.json"))("esbuild");
const [ctascope, run, generate, programs, work] = process.argv.slice(2);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
for (const name of ["server", "embedded"])
    await build({
        entryPoints: [join(web, `src/view/${name}.ts`)],
        bundle: true,
        format: "esm",
        outfile: join(work, `${name}.mjs`),
        target: "es2022",
    });
const { ServerSource } = await import(pathToFileURL(join(work, "server.mjs")));
const { EmbeddedSource } = await import(pathToFileURL(join(work, "embedded.mjs")));

let seed = 11;
const random = (limit) => (seed = (seed * 48271) % 2147483647) % Math.max(1, limit);
const pick = (list) => list[random(list.length)];

function pageOf(path, ...options) {
    const file = join(work, "page.html");
    const told = spawnSync(ctascope, ["report", path, "--accesses", "-o", file, ...options], { encoding: "utf8" });
    assert.equal(told.status, 0, told.stderr);
    const page = readFileSync(file, "utf8");
    assert.ok(!page.includes("@@"), "a marker is left");
    // Its policy names its one script, and nobody to ask.
    const script = /<script nonce="">([\s\S]*?)<\/script>/.exec(page)[1];
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)[1];
    assert.ok(policy.includes(`script-src 'sha256-${createHash("sha256").update(script).digest("base64")}';`), policy);
    assert.ok(policy.startsWith("default-src 'none';") && policy.includes("connect-src 'none';"), policy);
    const data = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(page)[1];
    return { data: JSON.parse(data), told: told.stderr, bytes: statSync(file).size };
}

async function serve(path) {
    const server = spawn(ctascope, ["view", path, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
    process.on("exit", () => server.kill()); // also when a test fails
    const url = await new Promise((resolve) => server.stdout.once("data", (bytes) => resolve(bytes.toString().trim())));
    return { source: new ServerSource(url), stop: () => server.kill("SIGINT") };
}

const everything = () => ({
    ctas: [],
    warps: [],
    sites: [],
    lines: [],
    kinds: [],
    space: null,
    range: null,
    partial: false,
});

function randomPlace(launch) {
    const { space, first, last } = pick(launch.spaces),
        at = first + random(last - first + 1);
    return { space, first: at, last: at + pick([0, 31, 500, last - first + 1]) };
}

function randomFilter(run, launch, held) {
    const filter = everything(),
        site = run.sites[pick(launch.sites).site];
    if (random(3) === 0) filter.sites = [site.site, pick(launch.sites).site];
    if (random(4) === 0) filter.lines = [{ source: site.source, line: site.line }];
    if (random(4) === 0) filter.kinds = [site.kind];
    if (random(4) === 0) filter.space = pick(launch.spaces).space;
    if (random(4) === 0) filter.warps = [[0, random(launch.warpsPerCta)]];
    if (random(4) === 0) filter.partial = true;
    if (random(3) === 0) filter.range = randomPlace(launch);
    if (!held && random(3) === 0) {
        const first = random(launch.ctaCount);
        filter.ctas = [
            [first, first + random(5)],
            [first + 7, first + 7],
        ];
    }
    if (held) Object.assign(filter, held);
    return filter;
}

// Both answers to every question, under random filters; `held`: the filter of what the page holds.
async function compare(page, server, held, rounds) {
    const embedded = new EmbeddedSource(page.data),
        run = await server.run(),
        id = page.data.launch.launch;
    const launch = await server.launch(id);
    const same = async (question) => assert.deepStrictEqual(await question(embedded), await question(server));
    assert.deepStrictEqual(await embedded.launch(id), launch);
    if (!held) await same((source) => source.findings(id));
    for (const { source } of run.sources.filter(({ hasText }) => hasText)) {
        await same((it) => it.source(source));
        await same((it) => it.lines(source, id));
    }
    for (let round = 0; round < rounds; round++) {
        const filter = randomFilter(run, launch, held),
            { space, first, last } = randomPlace(launch);
        const from = random(200),
            count = pick([0, 3, 1000]),
            index = random(launch.records);
        await same((it) => it.records(id, filter, from, count));
        await same((it) => it.position(id, filter, index));
        for (const by of ["line", "warp", "cta", "site", "allocation", "operation"])
            await same((it) => it.groups(id, filter, by, pick([1, 1000]) && 1000));
        await same((it) => it.density(id, filter, space, first, last, 1 + (round % 50)));
        await same((it) => it.touching(id, filter, space, first, last, 40));
        await same((it) =>
            it.order(id, filter, space, first, last, from, from + 900, 1 + (round % 30), 1 + (round % 20)),
        );
        for (const where of ["global", "shared", "local"]) await same((it) => it.conflicts(id, filter, where, 60));
    }
    await assert.rejects(embedded.launch(id + 1000), /this page contains only launch \d+, not launch \d+/);
    await assert.rejects(server.launch(1e6), /there is no launch/);
    const given = new AbortController();
    given.abort();
    await assert.rejects(server.records(id, everything(), 0, 1, given.signal), { name: "AbortError" });
}

// All of a small launch, with and without shared memory.
const small = join(work, "small.run"),
    large = join(work, "large.run");
execFileSync(generate, [small, "9000"]);
execFileSync(generate, [large, "600000"]);
for (const path of [run, small]) {
    const page = pageOf(path),
        server = await serve(path);
    assert.equal(page.data.sampled, null);
    await compare(page, server.source, null, 12);
    server.stop();
}

// A run with values, of two units of which one was compiled without: values are what the server says.
const objects = ["a", "b"].map((unit) => {
    const object = join(work, `${unit}.o`),
        flags = unit === "a" ? ["--values"] : [];
    execFileSync(ctascope, [
        "cc",
        "-O2",
        "-rdc=true",
        "-c",
        ...flags,
        join(programs, `values-unit-${unit}.cu`),
        "-o",
        object,
    ]);
    return object;
});
const program = join(work, "units"),
    valued = join(work, "units.run");
execFileSync(ctascope, ["cc", "-rdc=true", ...objects, "-o", program]);
execFileSync(ctascope, ["record", "--values", "-o", valued, "--", program], { stdio: "ignore" });
{
    const server = await serve(valued),
        { total, rows } = await server.source.launches("", 0, 100);
    let withValues = 0,
        without = 0;
    for (const { launch } of rows) {
        const page = pageOf(valued, "--launch", `${launch}`),
            source = new EmbeddedSource(page.data);
        await compare(page, server.source, null, 6);
        const { hasValues, values } = await source.records(launch, everything(), 0, 1000);
        withValues += hasValues.filter((has, i) => has && values.subarray(32 * 4 * i).some(Boolean)).length;
        without += hasValues.filter((has) => !has).length;
    }
    assert.ok(total > 0 && withValues > 20 && without > 20, `${withValues} records with values, ${without} without`);
    server.stop();
}

// Some CTAs of a large one, within the size, and the page says so.
const whole = pageOf(large),
    part = pageOf(large, "--max-page-size", `${whole.bytes - 150000}`);
assert.ok(part.bytes <= whole.bytes - 150000);
assert.match(part.told, /page.html' \([\d.]+ [KM]iB\): launch 0 with \d+ records of \d+ of its 391 CTAs/);
const embedded = new EmbeddedSource(part.data),
    info = await embedded.run();
assert.match(info.sampled, /of 391 CTAs/);
const held = await embedded.groups(0, everything(), "cta", 1000);
assert.ok(held.total > 1 && held.total < 391);
const server = await serve(large);
const ranges = ({ rows }) => rows.map(({ key }) => [Number(key), Number(key)]).sort((a, b) => a[0] - b[0]);
await compare(part, server.source, { ctas: ranges(held) }, 3);
server.stop();

// One CTA is too much: some of its warps, evenly spread. Its two warps' worth, and less than one.
{
    const text = join(work, "one.cu"),
        program = join(work, "one"),
        path = join(work, "one.run");
    writeFileSync(
        text,
        `__global__ void wander(const unsigned *next, unsigned *out) {
        unsigned at = blockIdx.x * 256 + threadIdx.x;
        for (int i = 0; i < 300; i++) at = next[at];
        out[blockIdx.x * 256 + threadIdx.x] = at;
    }
    int main() {
        const unsigned count = 1 << 20;
        unsigned *next = new unsigned[count], *device, *out;
        for (unsigned i = 0; i < count; i++) next[i] = (i * 1664525u + 1013904223u) % count;
        cudaMalloc(&device, 4 * count);
        cudaMalloc(&out, 4 * 512);
        cudaMemcpy(device, next, 4 * count, cudaMemcpyHostToDevice);
        wander<<<2, 256>>>(device, out);
        return cudaDeviceSynchronize() != cudaSuccess;
    }`,
    );
    execFileSync(ctascope, ["cc", "-O2", text, "-o", program], { stdio: "ignore" });
    execFileSync(ctascope, ["record", "-o", path, "--", program], { stdio: "ignore" });
    const all = pageOf(path),
        bound = Math.floor(all.bytes - 0.7 * (4 / 3) * Buffer.from(all.data.records, "base64").length);
    const some = pageOf(path, "--max-page-size", `${bound}`),
        told = /launch 0 with (\d+) records of (\d) of the 8 warps of one of its 2 CTAs/.exec(some.told);
    assert.ok(
        told && some.bytes <= bound && Number(told[1]) === 301 * Number(told[2]) && Number(told[2]) >= 1,
        some.told,
    );
    assert.equal(
        (await new EmbeddedSource(some.data).run()).sampled,
        `${told[2]} of the 8 warps of one of 2 CTAs are in this page, with all their accesses: ` +
            "the page would be too large (--max-page-size).",
    );
    const source = new EmbeddedSource(some.data),
        [ctas, warps] = [
            await source.groups(0, everything(), "cta", 9),
            await source.groups(0, everything(), "warp", 9),
        ];
    assert.deepEqual([ctas.total, warps.total], [1, Number(told[2])]);
    const server = await serve(path);
    await compare(some, server.source, { ctas: ranges(ctas), warps: ranges(warps) }, 3);
    server.stop();
    const least = all.bytes - (4 / 3) * Buffer.from(all.data.records, "base64").length + 4000,
        refused = spawnSync(
            ctascope,
            ["report", path, "--accesses", "-o", join(work, "no.html"), "--max-page-size", `${Math.floor(least)}`],
            { encoding: "utf8" },
        );
    assert.equal(refused.status, 1, refused.stderr);
    assert.match(refused.stderr, /one warp of launch 0 needs \d+ bytes more than the page may have/);
}

for (const [options, text] of [
    [["--launch", "77"], "there is no launch 77"],
    [["--max-page-size", "1000"], "needs"],
    [["--max-page-size", "0.2K"], "needs"],
]) {
    const told = spawnSync(ctascope, ["report", small, "--accesses", "-o", join(work, "no.html"), ...options], {
        encoding: "utf8",
    });
    assert.equal(told.status, 1 + (options[0] === "--launch" ? 1 : 0), told.stderr);
    assert.ok(told.stderr.includes(text), told.stderr);
}
