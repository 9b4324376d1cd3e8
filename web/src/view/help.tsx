// The keys, and a short tour for the first visit: a few places, each pointed at, each skippable.
import { useEffect, useRef, useState } from "preact/hooks";
import { unitOf } from "./canvas";
import { KEYS } from "./keys";
import { VIEWS, VIEW_HINTS, VIEW_TITLES } from "./state";

export function Help({ onClose, onTour }: { onClose: () => void; onTour: () => void }) {
    useEscape(onClose);
    return (
        <div class="veil" onClick={(event) => event.target === event.currentTarget && onClose()}>
            <div class="dialog" role="dialog" aria-modal="true" aria-label="Help">
                <div class="headline">
                    <h2>Keys and views</h2>
                    <button class="icon" aria-label="Close" onClick={onClose}>
                        ×
                    </button>
                </div>
                <div class="two">
                    <dl>
                        {KEYS.map(([key, does]) => (
                            <>
                                <dt>
                                    <kbd>{key}</kbd>
                                </dt>
                                <dd>{does}</dd>
                            </>
                        ))}
                    </dl>
                    <dl>
                        {VIEWS.map((view) => (
                            <>
                                <dt>{VIEW_TITLES[view]}</dt>
                                <dd>{VIEW_HINTS[view]}</dd>
                            </>
                        ))}
                    </dl>
                </div>
                <p class="soft">
                    A <b>request</b> (record) is one execution of a memory instruction by a warp: up to 32 lanes, each
                    with an address. Global memory is transferred in sectors of 32 bytes. Shared memory has 32 banks; a
                    bank serves one word at a time.
                </p>
                <p class="soft">
                    Colours: <i class="dot load" /> load, <i class="dot store" /> store, <i class="dot atomic" />{" "}
                    atomic. The address bar always holds what you see: copy it to share.
                </p>
                <div class="buttons">
                    <button onClick={onTour}>Show the tour</button>
                    <button class="primary" autofocus onClick={onClose}>
                        Close
                    </button>
                </div>
            </div>
        </div>
    );
}

function useEscape(then: () => void) {
    useEffect(() => {
        const key = (event: KeyboardEvent) => event.key === "Escape" && (event.stopPropagation(), then());
        addEventListener("keydown", key, true);
        return () => removeEventListener("keydown", key, true);
    });
}

const STOPS: [string, string, string][] = [
    [".strip", "Pick a launch", "Launches and copies of each stream. Click one to open it; scroll to zoom."],
    [
        ".left",
        "Narrow it down",
        "Every view shows only requests that match the filter. Groups total them by line, allocation or " +
            "CTA: click one to filter by it.",
    ],
    [
        ".viewtabs",
        "Choose a view",
        "Findings shows each problem and its source line. Two views can be open side by side; keys 1 to 9 switch.",
    ],
    [
        ".pane",
        "See every access",
        "Each row is a request of a warp with its 32 lanes. Point at a lane to highlight its bytes in " +
            "the address map. Click to select; press p to pin and compare.",
    ],
    [".right", "Look closely", "The selected request, lane by lane: addresses, values, cost and its cause."],
];

// Beside what the tour points at where there is room, else over it; always inside the window.
function cardPlace(box: DOMRect): { left: string; top: string } {
    const unit = unitOf(),
        width = 340 * unit,
        height = 190 * unit,
        narrow = box.width < innerWidth / 2;
    let left = box.left + box.width / 2 - width / 2;
    if (narrow && box.right + width + 24 < innerWidth) left = box.right + 12;
    else if (narrow && box.left > width + 24) left = box.left - width - 12;
    const below = !narrow && box.bottom + height + 24 < innerHeight;
    const inside = (at: number, room: number) => `${Math.max(12, Math.min(room - 12, at))}px`;
    return {
        left: inside(left, innerWidth - width),
        top: inside(below ? box.bottom + 12 : box.top + 60, innerHeight - height),
    };
}

export function Tour({ onClose }: { onClose: () => void }) {
    const [at, setAt] = useState(0),
        [box, setBox] = useState<DOMRect | null>(null);
    const go = useRef<HTMLButtonElement>(null);
    useEscape(onClose);
    useEffect(() => go.current?.focus(), [at]);
    useEffect(() => {
        const place = () => setBox(document.querySelector(STOPS[at][0])?.getBoundingClientRect() ?? null);
        const target = document.querySelector(STOPS[at][0]),
            observer = new ResizeObserver(place);
        if (target) observer.observe(target);
        addEventListener("resize", place);
        return () => {
            observer.disconnect();
            removeEventListener("resize", place);
        };
    }, [at]);
    const [, title, text] = STOPS[at],
        last = at === STOPS.length - 1;
    const style = box ? cardPlace(box) : {};
    return (
        <div class="tour">
            {box && (
                <div
                    class="spot"
                    style={{
                        left: `${box.left - 3}px`,
                        top: `${box.top - 3}px`,
                        width: `${box.width + 6}px`,
                        height: `${box.height + 6}px`,
                    }}
                />
            )}
            <div
                class="dialog card"
                role="dialog"
                aria-modal="true"
                aria-label={`Tour, ${at + 1} of ${STOPS.length}: ${title}`}
                style={style}
            >
                <h2>{title}</h2>
                <p>{text}</p>
                <div class="buttons">
                    <span class="soft">
                        {at + 1} of {STOPS.length}
                    </span>
                    <span class="grow" />
                    {!last && <button onClick={onClose}>Skip</button>}
                    <button class="primary" ref={go} onClick={() => (last ? onClose() : setAt(at + 1))}>
                        {last ? "Close" : "Next"}
                    </button>
                </div>
            </div>
        </div>
    );
}
