// The arithmetic of the page without a browser: banks and sectors against a brute-force twin and
// closed forms, the URL there and back, values of all types, the layout of memory on a picture.
//     node check-pure.mjs
import assert from "node:assert/strict";
import { join } from "node:path";
import { here, load } from "./harness.mjs";

const source = (name) => load(join(here, "../../../web/src/view", name));
const [requests, url, values, layout, state, strip, fit] = await Promise.all(
    ["requests.ts", "url.ts", "values.ts", "grid-layout.ts", "state.ts", "strip-layout.ts", "fit-text.ts"].map(source),
);

// A generator that gives the same numbers every time.
let seed = 12345;
const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
};
const FULL = 0xffffffff;

// ---- banks ----

// The twin: per phase, a set of words for each bank.
function banksTwin(addresses, mask, width, bankBytes, loads) {
    const active = (lane) => Math.floor(mask / 2 ** lane) % 2 === 1;
    const paired = (step) =>
        row((l) => l).every((a) =>
            row((l) => l).every((b) => (a ^ b) !== step || !active(a) || !active(b) || addresses[a] === addresses[b]),
        );
    const lanes =
        (width <= 4 ? 32 : width <= 8 ? 16 : 8) *
        (width > 4 && loads && bankBytes === 4 && (paired(1) || paired(2)) ? 2 : 1);
    let wavefronts = 0,
        ideal = 0,
        ways = 0;
    for (let first = 0; first < 32; first += lanes) {
        const banks = Array.from({ length: 32 }, () => new Set());
        for (let lane = first; lane < first + lanes; lane++) {
            if (!((mask >>> lane) & 1)) continue;
            for (let byte = 0; byte < width; byte++) {
                const word = Math.floor((addresses[lane] + byte) / bankBytes);
                banks[word % 32].add(word);
            }
        }
        const worst = Math.max(...banks.map((bank) => bank.size)),
            words = banks.reduce((n, bank) => n + bank.size, 0);
        wavefronts += worst;
        ideal += Math.ceil(words / 32);
        ways = Math.max(ways, worst);
    }
    return { wavefronts, ideal, ways };
}
const row = (f) => Array.from({ length: 32 }, (_, lane) => f(lane));
const CASES = [
    // what, addresses, mask, width, bank bytes, wavefronts, ideal, ways
    ["side by side", row((l) => 4 * l), FULL, 4, 4, 1, 1, 1],
    ["one address", row(() => 64), FULL, 4, 4, 1, 1, 1],
    ["a column of a 32-wide tile", row((l) => 128 * l), FULL, 4, 4, 32, 1, 32],
    ["a column of a 33-wide tile", row((l) => 132 * l), FULL, 4, 4, 1, 1, 1],
    ["stride 2", row((l) => 8 * l), FULL, 4, 4, 2, 1, 2],
    ["stride 2 of doubles", row((l) => 16 * l), FULL, 8, 4, 4, 2, 2],
    ["doubles side by side", row((l) => 8 * l), FULL, 8, 4, 2, 2, 1],
    ["vectors of four", row((l) => 16 * l), FULL, 16, 4, 4, 4, 1],
    ["one vector for all", row(() => 64), FULL, 16, 4, 2, 2, 1],
    ["a double for two lanes", row((l) => 8 * (l >> 1)), FULL, 8, 4, 1, 1, 1],
    ["half of a column", row((l) => 128 * l), 0xffff, 4, 4, 16, 1, 16],
    ["8-byte banks, stride 2", row((l) => 8 * l), FULL, 4, 8, 1, 1, 1],
    ["bytes side by side", row((l) => l), FULL, 1, 4, 1, 1, 1],
    ["nobody", row(() => 0), 0, 4, 4, 0, 0, 0],
    ["two words of one bank", row((l) => 128 * (l % 2)), FULL, 4, 4, 2, 1, 2],
];
for (const [what, addresses, mask, width, bank, wavefronts, ideal, ways] of CASES) {
    const cost = requests.bankCost(addresses, mask, width, bank, true);
    assert.deepEqual([cost.wavefronts, cost.ideal, cost.ways], [wavefronts, ideal, ways], what);
}
for (let round = 0; round < 3000; round++) {
    const width = [1, 2, 4, 8, 16][random(5)],
        bank = random(2) ? 4 : 8,
        mask = random(2 ** 16) + 65536 * random(2 ** 16),
        spread = [64, 512, 8192][random(3)];
    const addresses = row(() => random(spread) * (random(3) ? width : 1)),
        pairs = [0, 1, 2][random(3)],
        loads = random(2) === 1;
    if (pairs) for (let lane = 0; lane < 32; lane++) addresses[lane] = addresses[lane & ~pairs];
    const cost = requests.bankCost(addresses, mask, width, bank, loads);
    assert.deepEqual(
        { wavefronts: cost.wavefronts, ideal: cost.ideal, ways: cost.ways },
        banksTwin(addresses, mask, width, bank, loads),
        JSON.stringify({ addresses, mask, width, bank }),
    );
    // A lane stands at every word that it touches, and nowhere else.
    for (const phase of cost.phases)
        for (const word of phase.words)
            for (const lane of word.lanes)
                assert.ok(addresses[lane] < (word.word + 1) * bank && addresses[lane] + width > word.word * bank);
    const bytes = new Set(),
        sectors = new Set(),
        lines = new Set();
    for (const lane of requests.lanesOf(mask))
        for (let b = 0; b < width; b++) {
            bytes.add(addresses[lane] + b);
            sectors.add(Math.floor((addresses[lane] + b) / 32));
            lines.add(Math.floor((addresses[lane] + b) / 128));
        }
    assert.deepEqual(requests.sectorCost(addresses, mask, width), {
        sectors: sectors.size,
        lines: lines.size,
        ideal: Math.ceil(bytes.size / 32),
        distinctBytes: bytes.size,
    });
    // Local memory: byte b of word w of lane l lies at 128 w + 4 l + b.
    const places = new Set();
    for (const lane of requests.lanesOf(mask))
        for (let at = addresses[lane]; at < addresses[lane] + width; at++)
            places.add(128 * Math.floor(at / 4) + 4 * lane + (at % 4));
    const localUnits = (unit) => new Set([...places].map((at) => Math.floor(at / unit))).size;
    assert.deepEqual(requests.sectorCost(addresses, mask, width, "local"), {
        sectors: localUnits(32),
        lines: localUnits(128),
        ideal: Math.ceil(places.size / 32),
        distinctBytes: places.size,
    });
}
const far = 2 ** 47 + 4096; // device addresses are beyond 32 bits
assert.equal(
    requests.sectorCost(
        row((l) => far + 1024 * l),
        FULL,
        4,
    ).sectors,
    32,
);
assert.equal(
    requests.layoutText(
        row((l) => far + 1024 * l),
        FULL,
        4,
    ),
    "strided: 1,024 B from lane to lane",
);
assert.match(
    requests.layoutText(
        row((l) => 4 * l),
        FULL,
        4,
    ),
    /^dense/,
);
assert.match(
    requests.layoutText(
        row(() => 4),
        FULL,
        4,
    ),
    /^uniform/,
);
assert.match(
    requests.layoutText(
        row((l) => (l * l) % 7),
        FULL,
        1,
    ),
    /^irregular/,
);
assert.equal(
    requests.layoutText(
        row((l) => 4 * l),
        4,
        4,
    ),
    "a single lane",
);

// Rows of the warp's lanes, some of them not active: two-level, as the terminal calls it.
const rows = row((l) => 4 * (l % 16) + 4096 * Math.floor(l / 16));
for (const mask of [FULL, 0xfffefffe, 0x7fff7fff, 0x00ff0fff])
    assert.equal(
        requests.layoutText(rows, mask, 4),
        "two-level: rows of 16 lanes side by side, 4,096 B from row to row",
        mask.toString(16),
    );

// ---- the timeline strip ----

// 5,000 launches of 10 ns, a microsecond apart, and one that is long: blocks that say how many they stand for, each
// launch in one of them, none with the name of one of several.
const launches = Array.from({ length: 5000 }, (_, i) => ({
    kind: "launch",
    id: i,
    name: i % 10 ? "small(int*)" : "other(int*)",
    start: 1000 * i,
    end: 1000 * i + (i === 2500 ? 500000 : 10),
    recorded: true,
}));
const scale = { xOf: (t) => 100 + (1000 * t) / 5e6, left: 100, right: 1100, least: 2 };
const blocks = strip.blocksOf(launches, 0, scale);
assert.deepEqual(
    blocks.flatMap(({ items }) => items.map(({ id }) => id)),
    launches.map(({ id }) => id),
);
assert.ok(blocks.length < 1001);
for (const { items, text } of blocks)
    if (items.length > 1) assert.match(text, /^[\d,]+ launches: [\d,]+ × small, [\d,]+ × other\. Zoom in/);
const longest = blocks.find(({ items }) => items[0].id === 2500);
assert.deepEqual([longest.items.length, longest.text], [1, "#2500 other, 500 us"]);
// A click takes the launch that is nearest.
assert.equal(strip.launchAt(blocks[0], scale.xOf(7000), scale).id, 7);
// Zoomed in, each stands alone with its name.
const near = { ...scale, xOf: (t) => 100 + (1000 * (t - 1e6)) / 1e4 };
assert.deepEqual(
    strip.blocksOf(launches, 0, near).map(({ text }) => text),
    [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010].map(
        (id) => `#${id} ${id % 10 ? "small" : "other"}, 10 ns`,
    ),
);
// Of four names three are told.
const four = ["a", "b", "c", "d"].map((name, id) => ({ ...launches[id], name }));
assert.match(strip.blocksOf(four, 0, scale)[0].text, /^4 launches: 1 × a, 1 × b, 1 × c, 1 more name\. Zoom in/);
const binned = { bins: [{ count: 37, busy: 0.25, kernel: 1 }] };
assert.equal(
    strip.binText(binned, 0, () => "f(int)"),
    "37 launches and copies begin here, 25.0% busy, longest: f. Zoom in to tell them apart",
);

// ---- the URL ----

const some = (list) => list[random(list.length)];
for (let round = 0; round < 500; round++) {
    const maybe = (make) => (random(2) ? make() : null),
        range = () => {
            const first = random(2 ** 30) * 4096;
            return { space: some(["global", "shared", "local"]), first, last: first + random(5000) };
        };
    const ranges = () =>
        Array.from({ length: random(3) }, () => {
            const a = random(1000);
            return [a, a + random(5)];
        });
    const given = {
        ...state.initialState(),
        launch: maybe(() => random(1e6)),
        view: some(state.VIEWS),
        second: maybe(() => some(state.VIEWS)),
        record: maybe(() => random(1e9)),
        lane: maybe(() => random(32)),
        bytes: maybe(range),
        filter: {
            ctas: ranges(),
            warps: ranges(),
            sites: Array.from({ length: random(3) }, () => random(99)),
            lines: Array.from({ length: random(3) }, () => ({ source: random(9), line: random(999) })),
            kinds: state.KINDS.filter(() => random(2)),
            space: maybe(() => some(state.SPACES)),
            range: maybe(range),
            partial: !!random(2),
        },
        pins: Array.from({ length: random(4) }, () => ({
            ...(random(3)
                ? { index: random(1e6), lane: maybe(() => random(32)), bytes: null }
                : { index: null, lane: null, bytes: range() }),
            name: some(["", "", "left edge", "a, b~c: 50%25 &=#", "ťěžký"]),
        })),
        source: maybe(() => random(9)),
        line: maybe(() => random(999)),
        group: some(state.GROUPS),
        window: maybe(range),
        shapes: random(2) ? { [random(99)]: { kind: some(["array", "matrix", "structs"]), pitch: random(4096) } } : {},
        order: maybe(() => ({ from: 5, to: 5 + random(99), first: 4096, last: 4096 + random(99) })),
        compare: maybe(() => ({ other: !!random(2), launch: random(9), index: random(999) })),
        time: maybe(() => [random(99), 100 + random(99)]),
        split: 15 + random(70),
        stacked: !!random(2),
        wholeRun: !!random(2),
    };
    const { state: read, problems } = url.decode(url.encode(given));
    assert.deepEqual(problems, []);
    assert.deepEqual(read, given);
}
assert.equal(url.encode(state.initialState()), "#view=warps");
for (const wrong of [
    "cta=3-1",
    "cta=x",
    "launch=-1",
    "view=nothing",
    "range=global:5-9",
    "bytes=heap:0x1-0x2",
    "lane=32",
    "pins=1.40",
    "pins=heap:0x1-0x2",
    "pins=4~%E0%A4",
    "order=1-2",
    "compare=maybe:1:2",
    "__proto__=1",
    "constructor=1",
    "shapes=1:cube:3",
    "t=9-1",
    "%E0%A4%A",
    "scope=all",
]) {
    const { state: read, problems } = url.decode(`#launch=2&${wrong}`);
    assert.equal(problems.length, 1, wrong);
    assert.equal(read.launch, wrong.startsWith("launch") ? 2 : 2, wrong);
    assert.ok(problems[0].includes(wrong), problems[0]);
}

// ---- values ----

const bytesOf = (size, write) => {
    const view = new DataView(new ArrayBuffer(size));
    write(view);
    return new Uint8Array(view.buffer);
};
const text = (type, size, write) => values.valueText(bytesOf(size, write), type);
assert.equal(
    text("float", 4, (v) => v.setFloat32(0, 0.1, true)),
    "0.1",
);
assert.equal(
    text("const double", 8, (v) => v.setFloat64(0, -2.5, true)),
    "-2.5",
);
assert.equal(
    text("int", 4, (v) => v.setInt32(0, -7, true)),
    "-7",
);
assert.equal(
    text("unsigned int", 4, (v) => v.setUint32(0, 4294967295, true)),
    "4294967295",
);
assert.equal(
    text("unsigned char", 1, (v) => v.setUint8(0, 200)),
    "200",
);
assert.equal(
    text("long long", 8, (v) => v.setBigInt64(0, -(2n ** 60n), true)),
    String(-(2n ** 60n)),
);
assert.equal(
    text("bool", 1, (v) => v.setUint8(0, 1)),
    "true",
);
assert.equal(
    text("__half", 2, (v) => v.setUint16(0, 0x3e00, true)),
    "1.5",
);
assert.equal(
    text("__half", 2, (v) => v.setUint16(0, 0x0001, true)),
    "5.96e-8",
);
assert.equal(
    text("__half2", 4, (v) => {
        v.setUint16(0, 0x3e00, true);
        v.setUint16(2, 0xc000, true);
    }),
    "(1.5, -2)",
);
assert.equal(
    text("__nv_bfloat162", 4, (v) => {
        v.setUint16(0, 0x3fc0, true);
        v.setUint16(2, 0xc000, true);
    }),
    "(1.5, -2)",
);
assert.equal(
    text("float *", 8, (v) => v.setBigUint64(0, 0x7f00deadn, true)),
    "0x7f00dead",
);
assert.equal(
    text("float4", 16, (v) => [1, 2, 3, 4].forEach((x, i) => v.setFloat32(4 * i, x, true))),
    "(1, 2, 3, 4)",
);
assert.equal(
    text("float", 8, (v) => [1, 2].forEach((x, i) => v.setFloat32(4 * i, x, true))),
    "(1, 2)",
); // a vector load of floats
assert.equal(
    text("Particle", 8, (v) => v.setUint8(0, 0xab)),
    "0x00000000000000ab",
);
assert.equal(
    text(null, 2, (v) => v.setUint16(0, 0x1234, true)),
    "0x1234",
);
assert.equal(
    text("double", 4, (v) => v.setUint32(0, 1, true)),
    "0x00000001",
); // half of one: not a double

// ---- memory on a picture ----

for (let round = 0; round < 400; round++) {
    const kind = some(["array", "matrix", "structs"]),
        element = some([1, 2, 4, 8]),
        first = random(1000) * 64,
        size = element * (1 + random(some([50, 5000, 200000])));
    const pitch = kind === "array" ? 0 : kind === "matrix" ? element * (1 + random(300)) : 4 * (1 + random(20)),
        width = 100 + random(1500),
        height = 60 + random(1200);
    const grid = layout.gridOf(first, first + size - 1, { kind, pitch }, element, { width, height, unit: 1 });
    const tall = Math.ceil(grid.rows / grid.merge),
        told = JSON.stringify({ kind, element, size, pitch, width, height, grid });
    assert.ok(grid.columns * grid.cellWidth <= width + 1 && tall * grid.cellHeight <= height + 1, told);
    assert.ok(
        grid.slices.every((s) => s.cells <= 65536) &&
            grid.slices.length <= 8 &&
            grid.columns * grid.cellBytes >= grid.pitch &&
            grid.rows * grid.pitch >= grid.last - first + 1,
        told,
    );
    // A byte's cell has the byte, if rows are not merged.
    for (let i = 0; i < 20; i++) {
        const byte = first + random(grid.last - first + 1),
            cell = layout.cellOf(grid, byte),
            has = layout.bytesOf(grid, cell);
        assert.ok(has && (grid.merge > 1 || (byte >= has[0] && byte <= has[1])), told);
    }
    // The slices cover it without a gap, in cells of a power of two that no cell of the picture cuts.
    let next = first;
    for (const slice of grid.slices) {
        const bytes = (slice.last - slice.first + 1) / slice.cells;
        assert.ok(
            (slice.first === next && Number.isInteger(Math.log2(bytes)) && grid.cellBytes % bytes === 0) ||
                grid.slices.length === 1,
            told,
        );
        next = slice.last + 1;
    }
    assert.ok(next > grid.last, told);
    // Whatever the answer's cells, nothing gets lost.
    const counts = Array.from({ length: Math.ceil((grid.last - first + 1) / grid.cellBytes) }, () => random(3)),
        sum = (list) => list.reduce((a, b) => a + b, 0);
    assert.equal(sum([...layout.gather(grid, first, grid.cellBytes, counts)]), sum(counts), told);
}
const matrix = layout.gridOf(0, 256 * 1024 - 1, { kind: "matrix", pitch: 1024 }, 4, {
    width: 600,
    height: 600,
    unit: 1,
});
assert.deepEqual([matrix.columns, matrix.rows, matrix.cellBytes, matrix.merge], [256, 256, 4, 1]);
const struct = layout.gridOf(0, 24 * 20 - 1, { kind: "structs", pitch: 24 }, 4, { width: 600, height: 600, unit: 1 });
assert.deepEqual([struct.columns, struct.rows, struct.cellBytes, struct.merge], [6, 20, 4, 1]);
// 40 GiB: as few cells as of anything else, and rows that are too many end earlier.
const huge = 40 * 2 ** 30,
    wide = layout.gridOf(far, far + huge - 1, { kind: "array", pitch: 0 }, 4, { width: 800, height: 400, unit: 1 });
assert.ok(wide.slices.length === 1 && wide.slices[0].cells <= 65536 && wide.rows * wide.pitch >= huge);
assert.ok(layout.cellOf(wide, far + huge - 1).row < wide.rows);
const long = layout.gridOf(far, far + huge - 1, { kind: "structs", pitch: 24 }, 4, {
    width: 800,
    height: 400,
    unit: 1,
});
assert.ok(long.slices.length <= 8 && long.last < far + huge - 1 && (long.last + 1 - far) % 24 === 0);
const [from, to] = layout.zoomed({ first: 0, last: 65535 }, 32768, 0.5, { first: 0, last: 65535 }, 64);
assert.ok(to - from + 1 === 32768 && from <= 32768 && to >= 32768 && from % 64 === 0);
assert.deepEqual(layout.zoomed({ first: 16384, last: 49151 }, 20000, 8, { first: 0, last: 65535 }, 64), [0, 65535]);

// ---- text that has to fit ----

// Letters as wide as 1: of a place in a variable, which element it is stays.
const letters = { measureText: (text) => ({ width: text.length }) };
for (const [text, width, shown] of [
    ["d_in[5]", 7, "d_in[5]"],
    ["a_long_name[1116123]", 14, "a_lo…[1116123]"],
    ["a_long_name[1116123] + 2 B", 18, "a_…[1116123] + 2 B"],
    ["a_long_name + 1,116,123 B", 16, "a… + 1,116,123 B"],
    ["a_long_name[1116123]", 10, "…[1116123]"],
    ["a_long_name[1116123]", 5, "a_lo…"],
    ["transpose_naive", 6, "trans…"],
    ["transpose_naive", 1, ""],
])
    assert.equal(fit.fitText(letters, text, width), shown, `${text} in ${width}`);

console.log("arithmetic, links, values and layouts are right");
