// The page over the demo source: what tests open. `?delay=300` answers late, `?values=0` has none.
import { start } from "../../../web/src/view/start";
import { DemoSource } from "./demo";

const options = new URLSearchParams(location.search);
const source = new DemoSource(Number(options.get("delay") ?? 0), { values: options.get("values") !== "0" });
Object.assign(window, { demo: source });
if (options.get("tour") !== "1") localStorage.setItem("ctascope-tour", "seen");
start(source, document.getElementById("page")!);
