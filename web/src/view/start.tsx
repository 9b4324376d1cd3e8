// Puts the page into its element, over whatever has the accesses.
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "../style.css";
// In this order: of two rules for one thing, the later counts.
import "./view.css";
import "./columns.css";
import "./panes.css";
import "./side.css";
import { App } from "./app";
import type { Source } from "./source";

export function start(source: Source, element: HTMLElement): void {
    document.documentElement.classList.add("viewing");
    render(<App source={source} />, element);
}
