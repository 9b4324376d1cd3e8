// How long the server of `ctascope view` takes for each kind of question, of one large launch:
//     node bench/view-answers.mjs CTASCOPE RUN [QUESTIONS = 40]
// Prints: first answer in ms (start of the server and reading the launch included), how long who asks
// for the conflicts of the whole launch at once has to wait (they are made once), then for each question
// the median and the 95th percentile over random filters and ranges in ms, then the server's greatest
// memory in MB.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const [ctascope, run, questions = "40"] = process.argv.slice(2);
const began = performance.now();
const server = spawn(ctascope, ["view", run, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
const base = await new Promise((resolve) => server.stdout.once("data", (bytes) => resolve(bytes.toString().trim())));
const ask = async (name, query) => {
    const start = performance.now();
    const response = await fetch(`${base}api/${name}?${new URLSearchParams(query)}`);
    const bytes = await response.arrayBuffer();
    if (!response.ok) throw new Error(`${name}: ${new TextDecoder().decode(bytes)}`);
    return { ms: performance.now() - start, bytes };
};
const json = async (name, query) => JSON.parse(new TextDecoder().decode((await ask(name, query)).bytes));
const started = performance.now() - began;
await json("run", {});
const opened = await ask("launch", { launch: 0 });
const launch = JSON.parse(new TextDecoder().decode(opened.bytes));
let seed = 1;
const random = (limit) => (seed = (seed * 48271) % 2147483647) % Math.max(1, Math.floor(limit));
const place = () => {
    const it = launch.allocations[random(launch.allocations.length)],
        size = 2 ** (8 + random(20));
    const first = it.address + random(Math.max(1, it.size - size));
    return { first, last: first + size - 1 };
};
const filters = [
    () => ({}),
    () => ({ sites: random(launch.sites.length) }),
    () => {
        const first = random(launch.ctaCount);
        return { ctas: `${first}-${first + random(launch.ctaCount / 2)}` };
    },
    () => ({ warps: `${random(launch.warpsPerCta)}` }),
    () => ({ kinds: "store" }),
    () => {
        const { first, last } = place();
        return { range: `global:${first}-${last}` };
    },
];
const kinds = {
    records: () => ({ from: random(1e5), count: 200 }),
    position: () => ({ index: random(launch.records) }),
    "groups by line": () => ({ by: "line", count: 200 }),
    "groups by cta": () => ({ by: "cta", count: 200 }),
    "groups by allocation": () => ({ by: "allocation", count: 200 }),
    density: () => ({ space: "global", ...place(), cells: 1024 }),
    "density of all": () => {
        const it = launch.allocations[random(launch.allocations.length)];
        return { space: "global", first: it.address, last: it.address + it.size - 1, cells: 2048 };
    },
    "density of shared memory": () => ({ space: "shared", first: 0, last: 1023, cells: 256 }),
    touching: () => {
        const { first } = place();
        return { space: "global", first, last: first + 31, count: 200 };
    },
    order: () => ({
        space: "global",
        ...place(),
        fromRecord: 0,
        toRecord: launch.records - 1,
        columns: 800,
        rows: 300,
    }),
    "conflicts (shared)": () => ({ space: "shared", count: 100 }),
    "conflicts (global)": () => ({ space: "global", count: 100 }),
};
console.log(`first ${(started + opened.ms).toFixed(0)} accesses ${launch.accesses}`);
for (const space of ["shared", "global"]) {
    const once = (await ask("conflicts", { launch: 0, space, count: 100 })).ms.toFixed(0);
    console.log(`conflicts of all (${space}), once: ${once} ${once}`);
}
for (const [name, query] of Object.entries(kinds)) {
    const times = [],
        count = name.startsWith("conflicts") ? Math.min(18, Number(questions)) : Number(questions);
    for (let i = 0; i < count; i++)
        times.push((await ask(name.split(" ")[0], { launch: 0, ...filters[i % filters.length](), ...query() })).ms);
    times.sort((a, b) => a - b);
    console.log(`${name}: ${times[times.length >> 1].toFixed(0)} ${times[Math.floor(times.length * 0.95)].toFixed(0)}`);
}
const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1];
console.log(`memory ${(Number(peak) / 1024).toFixed(0)}`);
server.kill("SIGINT");
