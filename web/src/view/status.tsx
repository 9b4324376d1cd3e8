// The line at the bottom: what the pointer is at, in words, and what is selected.
import { count } from "../format";
import { busy } from "./ask";
import { recordText, useModel } from "./model";
import { hex } from "./state";
import { useStore } from "./store";

export function StatusLine() {
    const model = useModel(),
        hover = useStore(model.hover),
        waiting = useStore(busy);
    const { state, selected } = model;
    const idle = state.bytes
        ? `${count(state.bytes.last - state.bytes.first + 1)} B selected from ${hex(state.bytes.first)}`
        : selected
          ? recordText(model, selected)
          : "Point at a lane or at bytes to highlight related items. Click to select. Press ? for help.";
    return (
        <footer class="status" aria-live="polite">
            <span class={`busy ${waiting ? "on" : ""}`} aria-hidden={!waiting}>
                {waiting ? "working" : ""}
            </span>
            <span class="hovered">{hover?.text ?? idle}</span>
        </footer>
    );
}
