// Bundles a page into one HTML file without references to anything outside:
//     node build.mjs report|view OUTPUT
// The file holds the marker @@CTASCOPE_DATA@@ where ctascope writes what the page shows as JSON, and
// @@CTASCOPE_NONCE@@ where the server of `ctascope view` writes what lets its script run. The page's
// policy names its one script by hash; @@CTASCOPE_CONNECT@@ is where it says who may be asked.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [name = "report", output = join(here, "dist", `${name}.html`)] = process.argv.slice(2);
const pages = {
    report: { entry: "report.tsx", template: "report.html" },
    view: { entry: "view/view.tsx", template: "view/view.html" },
};

const bundle = await build({
    entryPoints: [join(here, "src", pages[name].entry)],
    bundle: true,
    minify: true,
    write: false,
    outdir: "out",
    format: "iife",
    target: ["es2020"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    loader: { ".css": "css" },
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? "";
// A script or style element ends at its end tag wherever that stands, also inside a string.
const script = text(".js").replaceAll("</script", "<\\/script");
const style = text(".css").replaceAll("</style", "<\\/style");
const template = await readFile(join(here, "src", pages[name].template), "utf8");
const hash = `sha256-${createHash("sha256").update(script).digest("base64")}`;
const page = template
    .replace("/*HASH*/", () => hash)
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => script);
await writeFile(output, page);
