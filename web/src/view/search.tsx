// One search for everything that has a name: views, launches, lines and variables, allocations, and
// addresses or records that are typed as numbers.
import { useState } from "preact/hooks";
import { bytes, shortName } from "../format";
import { useAsk } from "./ask";
import type { Model } from "./model";
import { useModel } from "./model";
import { addressText, allocationAt, allocationName, kernelName, placeText } from "./places";
import { NO_FILTER, VIEWS, VIEW_HINTS, VIEW_TITLES, grouped, hex } from "./state";
import type { Site } from "./source";
import { useOutside } from "./topbar";

interface Hit {
    kind: string;
    name: string;
    more: string;
    go: () => void;
}
const MOST = 8; // of a kind

// Instructions of the launch; copies that unrolling made are one.
function siteHits({ run, launch, state, set }: Model, has: (...names: (string | null)[]) => boolean): Hit[] {
    const executed = new Set(launch.sites.map((s) => s.site));
    const found = run.sites.filter(
        (site) => executed.has(site.site) && has(site.variable, placeText(run, site), site.operation, site.type),
    );
    const moreOf = (site: Site) => `${site.operation} ${site.width} B${site.variable ? ` of ${site.variable}` : ""}`;
    return [...grouped(found, (site) => `${placeText(run, site)} ${moreOf(site)}`).values()].map((sites) => ({
        kind: "site",
        name: placeText(run, sites[0]),
        more: `${moreOf(sites[0])}${sites.length > 1 ? ` × ${sites.length}` : ""}`,
        go: () =>
            set({
                filter: { ...NO_FILTER, sites: sites.map((site) => site.site) },
                view: state.view === "source" ? "source" : "warps",
                source: sites[0].source,
                line: sites[0].line,
            }),
    }));
}

function hitsOf(model: Model, text: string): Hit[] {
    const { launch } = model,
        wanted = text.trim().toLowerCase(),
        hits: Hit[] = [];
    const has = (...names: (string | null)[]) => names.some((name) => name?.toLowerCase().includes(wanted));
    const add = (list: Hit[]) => hits.push(...list.slice(0, MOST));
    if (/^0x[0-9a-f]{1,13}$/.test(wanted)) {
        const address = Number(wanted),
            inside = allocationAt(launch, address);
        add([
            {
                kind: "address",
                name: hex(address),
                more: addressText(launch, "global", address),
                go: () =>
                    model.set({
                        view: "addresses",
                        bytes: { space: "global", first: address, last: address + (inside?.elementBytes ?? 1) - 1 },
                        window: null,
                    }),
            },
        ]);
    } else if (/^\d{1,15}$/.test(wanted)) {
        const n = Number(wanted);
        if (n < launch.records)
            add([
                {
                    kind: "record",
                    name: `record ${n}`,
                    more: "of this launch",
                    go: () => model.set({ record: n, lane: null, view: "warps" }),
                },
            ]);
        if (n < launch.ctaCount)
            add([
                {
                    kind: "CTA",
                    name: `CTA ${n}`,
                    more: "its accesses",
                    go: () => model.set({ filter: { ...NO_FILTER, ctas: [[n, n]] }, view: "warps" }),
                },
            ]);
    }
    add(siteHits(model, has));
    add(
        launch.allocations
            .filter((a) => has(a.variable, a.declaration, hex(a.address)))
            .map((a) => ({
                kind: "allocation",
                name: allocationName(a),
                more: `${bytes(a.size)} at ${hex(a.address)}`,
                go: () =>
                    model.set({
                        view: "addresses",
                        window: { space: "global", first: a.address, last: a.address + a.size - 1 },
                    }),
            })),
    );
    add(
        launch.shared
            .filter((a) => has(a.variable, a.declaration))
            .map((a) => ({
                kind: "shared",
                name: allocationName(a),
                more: `${bytes(a.size)} of each CTA`,
                go: () =>
                    model.set({
                        view: "addresses",
                        window: { space: "shared", first: a.address, last: a.address + a.size - 1 },
                    }),
            })),
    );
    add(
        VIEWS.filter((view) => has(VIEW_TITLES[view])).map((view) => ({
            kind: "view",
            name: VIEW_TITLES[view],
            more: VIEW_HINTS[view],
            go: () => model.set({ view }),
        })),
    );
    return hits;
}

export function Search() {
    const model = useModel();
    const [text, setText] = useState(""),
        [open, setOpen] = useState(false),
        [chosen, setChosen] = useState(0);
    const leave = () => {
        setOpen(false);
        setText("");
    }; // the next search begins anew
    const place = useOutside(open, leave);
    const launches = useAsk("search", open && text.trim() ? text.trim() : null, (signal) =>
        model.source.launches(text.trim(), 0, MOST, signal),
    );
    const hits: Hit[] =
        !open || !text.trim()
            ? []
            : [
                  ...hitsOf(model, text),
                  ...(launches.data?.rows ?? []).map((row) => ({
                      kind: "launch",
                      name: `#${row.launch} ${shortName(kernelName(model.run, row.kernel))}`,
                      more: "",
                      go: () => model.openLaunch(row.launch),
                  })),
              ];
    const take = (hit: Hit | undefined, field: HTMLInputElement | null) => {
        if (!hit) return;
        hit.go();
        leave();
        field?.blur();
    };
    const key = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
        if (event.key === "ArrowDown") setChosen(Math.min(hits.length - 1, chosen + 1));
        else if (event.key === "ArrowUp") setChosen(Math.max(0, chosen - 1));
        else if (event.key === "Enter") take(hits[chosen], event.currentTarget);
        else if (event.key === "Escape") event.currentTarget.blur();
        else return;
        event.preventDefault();
    };
    return (
        <div class="search" ref={place}>
            <input
                type="search"
                placeholder="Search"
                aria-label="Search everything"
                value={text}
                onKeyDown={key}
                onFocus={() => setOpen(true)}
                onInput={(event) => {
                    setText(event.currentTarget.value);
                    setOpen(true);
                    setChosen(0);
                }}
            />
            <kbd>/</kbd>
            {open && text.trim() && (
                <div class="popup" role="listbox" aria-label="Found">
                    {hits.map((hit, i) => (
                        <button
                            role="option"
                            aria-selected={i === chosen}
                            class={i === chosen ? "on" : ""}
                            onClick={(event) =>
                                take(hit, event.currentTarget.closest(".search")!.querySelector("input"))
                            }
                        >
                            <span class="kind">{hit.kind}</span>
                            <code>{hit.name}</code>
                            <span class="soft">{hit.more}</span>
                        </button>
                    ))}
                    {!hits.length && !launches.waiting && (
                        <p class="soft none">No match for '{text.trim()}' in this launch or in the list of launches.</p>
                    )}
                </div>
            )}
        </div>
    );
}
