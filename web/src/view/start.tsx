// Puts the page into its element, over whatever has the accesses.
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./view.css";
import { App } from "./app";
import type { Source } from "./source";

export function start(source: Source, element: HTMLElement): void {
    document.documentElement.classList.add("viewing");
    render(<App source={source} />, element);
}
