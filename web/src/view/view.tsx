// The page's entry: over the server that sent it, or over the launch that is in it.
import { EmbeddedSource, type EmbeddedData } from "./embedded";
import { ServerSource } from "./server";
import { start } from "./start";

const data = JSON.parse(document.getElementById("data")!.textContent) as EmbeddedData | { mode: "server" };
const source = data.mode === "embedded" ? new EmbeddedSource(data) : new ServerSource();
start(source, document.getElementById("page")!);
