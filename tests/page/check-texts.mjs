// Numbers read alike in the terminal and on the pages, to the last digit:
//     node check-texts.mjs TEXTS     (the program made of texts.c)
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import assert from "node:assert/strict";
import { here, load } from "./view/harness.mjs";

const format = await load(join(here, "../../../web/src/format.ts"));
const lines = execFileSync(process.argv[2], { maxBuffer: 1 << 28 })
    .toString()
    .trim()
    .split("\n");
assert.ok(lines.length > 10000);
for (const line of lines) {
    const [, kind, value, text] = /^(\S+) (\S+) (.*)$/.exec(line);
    assert.equal(format[kind](Number(value)), text, line);
}
assert.equal(format.percent(null), "-");
// Never "1000k" where "1M" is meant, and never a digit more than three.
for (const value of [999, 999.4, 999500, 999499, 1e6, 999.96e6, 12345, 1.5, 0.25, 31999])
    assert.match(format.short(value), /^\d{1,3}(\.\d{1,2})?[kMG]?$/, String(value));
// Long names keep their ends, in which templates differ; none is longer than its cell.
const long = ["alpha<float, 64>", "omega<float, 7>"].map((end) => format.fitted(`interior_${"y".repeat(150)}_${end}`));
assert.deepEqual(
    long.map((name) => [name.length, name.startsWith("interior_"), name.includes("..")]),
    [
        [44, true, true],
        [44, true, true],
    ],
);
assert.ok(long[0].endsWith("alpha<float, 64>") && long[1].endsWith("omega<float, 7>"));
assert.equal(format.fitted("reduce<float, 256>"), "reduce<float, 256>");
console.log(`${lines.length} numbers read as in the terminal`);
