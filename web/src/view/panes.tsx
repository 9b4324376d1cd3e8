// The middle: one view, or two that are seen together, below each other or side by side where there
// is room.
import { useEffect, useRef, useState } from "preact/hooks";
import { unitOf } from "./canvas";
import { AddressesView } from "./addresses";
import { BanksView } from "./banks";
import { CommunicationView } from "./communication";
import { ConflictsView } from "./conflicts";
import { DiffView } from "./diff";
import { FindingsView } from "./findings";
import { FlowView } from "./flow-view";
import { OrderView } from "./order";
import { SectorsView } from "./sectors";
import { SourceView } from "./source-view";
import { WarpsView } from "./warps";
import { useModel } from "./model";
import { onArrows } from "./parts";
import { ALONE, VIEWS, VIEW_HINTS, VIEW_TITLES, type ViewName } from "./state";

const PARTS: Record<ViewName, () => preact.JSX.Element> = {
    findings: FindingsView,
    source: SourceView,
    warps: WarpsView,
    addresses: AddressesView,
    banks: BanksView,
    sectors: SectorsView,
    conflicts: ConflictsView,
    order: OrderView,
    communication: CommunicationView,
    flow: FlowView,
    diff: DiffView,
};

export function Panes() {
    const model = useModel(),
        { view, second } = model.state;
    const place = useRef<HTMLDivElement>(null);
    const [beside, setBeside] = useState(false);
    useEffect(() => {
        const observer = new ResizeObserver(() => setBeside(place.current!.clientWidth > 1350 * unitOf()));
        observer.observe(place.current!);
        return () => observer.disconnect();
    }, []);
    const views = VIEWS.filter(
        (name) =>
            ((name !== "communication" && name !== "flow") || model.run.hasCommunication) &&
            (name !== "diff" || model.run.otherRun),
    );
    const pairs = views.filter((name) => !ALONE.includes(name));
    const other = second && second !== view && pairs.includes(second) && pairs.includes(view) ? second : null;
    const choose = (name: ViewName) => model.set({ view: name, ...(name === second ? { second: view } : {}) });
    return (
        <main class="centre" ref={place}>
            <div class="viewtabs">
                <div
                    class="tablist"
                    role="tablist"
                    aria-label="Views"
                    onKeyDown={(event) => onArrows(event, ["ArrowLeft"], ["ArrowRight"])}
                >
                    {views.map((name) => (
                        <button
                            role="tab"
                            aria-selected={name === view}
                            tabIndex={name === view ? 0 : -1}
                            class={name === other ? "seen" : ""}
                            title={VIEW_HINTS[name]}
                            onClick={() => choose(name)}
                        >
                            {VIEWS.indexOf(name) < 10 && <kbd>{(VIEWS.indexOf(name) + 1) % 10}</kbd>}
                            <span data-title={VIEW_TITLES[name]}>{VIEW_TITLES[name]}</span>
                        </button>
                    ))}
                </div>
                <span class="grow" />
                {pairs.includes(view) && (
                    <label class="with">
                        with
                        <select
                            aria-label="The second pane"
                            value={other ?? ""}
                            onChange={(event) =>
                                model.set({ second: (event.currentTarget.value || null) as ViewName | null })
                            }
                        >
                            <option value="">nothing</option>
                            {pairs
                                .filter((name) => name !== view)
                                .map((name) => (
                                    <option value={name}>{VIEW_TITLES[name]}</option>
                                ))}
                        </select>
                    </label>
                )}
            </div>
            <div
                class={`panes ${other ? (beside ? "beside" : "below") : ""}`}
                style={{ "--split": `${model.state.split}%` }}
            >
                {[view, ...(other ? [other] : [])].map((name) => {
                    const Part = PARTS[name];
                    return (
                        <section class="pane" key={name} data-view={name} aria-label={VIEW_TITLES[name]}>
                            <Part />
                        </section>
                    );
                })}
                {other && <Splitter beside={beside} />}
            </div>
        </main>
    );
}

// The edge between the panes: drag it, or move it with the arrows.
function Splitter({ beside }: { beside: boolean }) {
    const model = useModel(),
        { split } = model.state;
    const put = (to: number) => model.set({ split: Math.max(15, Math.min(85, Math.round(to))) });
    const move = (event: PointerEvent & { currentTarget: HTMLElement }) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const box = event.currentTarget.parentElement!.getBoundingClientRect();
        put(beside ? (100 * (event.clientX - box.left)) / box.width : (100 * (event.clientY - box.top)) / box.height);
    };
    return (
        <div
            class="splitter"
            role="separator"
            tabIndex={0}
            aria-label="Divider between the panes"
            aria-valuenow={split}
            aria-orientation={beside ? "vertical" : "horizontal"}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={move}
            onDblClick={() => put(50)}
            onKeyDown={(event) => {
                const by = { ArrowUp: -5, ArrowLeft: -5, ArrowDown: 5, ArrowRight: 5 }[event.key];
                if (by === undefined) return;
                put(split + by);
                event.preventDefault();
                event.stopPropagation();
            }}
        />
    );
}
