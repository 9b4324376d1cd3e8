// The address map: every allocation alive at the launch, or every variable of shared memory, one of
// them in full as a band and as cells, laid out as an array, a matrix or structs.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, counted } from "../format";
import { AddressGrid, usePicture, type Region, type Shown } from "./address-grid";
import { scaleText } from "./address-paint";
import { AddressBand } from "./address-band";
import { useAsk } from "./ask";
import { unitOf } from "./canvas";
import { inferPitch } from "./pitch";
import { marksOf, useModel, type Model } from "./model";
import { Choice, Empty, Head, Inks, Share, Unrecorded } from "./parts";
import { allocationName, ownerOf } from "./places";
import { BANKS } from "./requests";
import type { Allocation, Group, LaunchInfo, Site, Space } from "./source";
import { hex, isFiltered, NO_FILTER, type Range, type Shape } from "./state";

const LISTED = 300,
    LEAST_ROWS = 8;
const SIMPLE = [1, 2, 4, 8, 16];

const elementOf = (allocation: Allocation) => allocation.elementBytes ?? 4;

// Of memory without declarations: words, or what its heaviest site takes at a time if that is another size.
function wordOf(launch: LaunchInfo, sites: Map<number, Site>, space: Space): number {
    const own = launch.sites
        .filter((s) => sites.get(s.site)?.space === space)
        .sort((a, b) => b.accesses - a.accesses)[0];
    const width = own ? sites.get(own.site)!.width : 4;
    return width === 8 || width === 1 || width === 2 ? width : 4;
}

// An allocation, a variable of shared memory, or without one all of a space that is not global.
function regionOf(
    launch: LaunchInfo,
    sites: Map<number, Site>,
    space: Space,
    allocation: Allocation | null,
): Region | null {
    if (allocation)
        return {
            space,
            name: allocationName(allocation),
            first: allocation.address,
            last: allocation.address + allocation.size - 1,
            element: SIMPLE.includes(elementOf(allocation)) ? elementOf(allocation) : 4,
            allocation,
        };
    if (space === "global") return null;
    const used = launch.spaces.find((s) => s.space === space);
    if (!used) return null;
    const last = Math.max(used.last, space === "shared" ? launch.sharedBytes - 1 : 0);
    const first = used.first - (used.first % 128),
        from = first ? ` from +${count(first)}` : "";
    return {
        space,
        name: `${space === "shared" ? "shared memory of a CTA" : "local memory of a thread"}${from}`,
        first,
        last,
        element: wordOf(launch, sites, space),
        allocation: null,
    };
}

// Which piece of memory is shown: that of the window, else of the selection, else what is preferred.
function chosen(model: Model, preferred: Allocation | null): { space: Space; allocation: Allocation | null } {
    const { launch, state, selected } = model;
    for (const range of [state.window, state.bytes, state.filter.range]) {
        const owner = range && ownerOf(launch, range.space, range.first),
            whole = owner && (range.space === "global" || range.last < owner.address + owner.size);
        if (range && (whole || range.space !== "global"))
            return { space: range.space, allocation: whole ? owner : null };
    }
    const space =
        selected?.space ??
        state.filter.space ??
        (launch.spaces.some((s) => s.space === "global") ? "global" : (launch.spaces[0]?.space ?? "global"));
    const lane = selected ? selected.addresses.find((a) => !Number.isNaN(a)) : undefined;
    return {
        space,
        allocation:
            (lane !== undefined ? ownerOf(launch, space, lane) : null) ??
            (space === "global" ? preferred : null) ??
            firstOf(launch, space),
    };
}
function firstOf(launch: LaunchInfo, space: Space): Allocation | null {
    if (space === "global") return launch.allocations.find((a) => a.touched) ?? launch.allocations[0] ?? null;
    return space === "shared" && launch.shared.length === 1 ? launch.shared[0] : null;
}

// A matrix where rows are known, and the window has some of them.
function defaultShape(region: Region, window: Range, bankBytes: number, pitch: number | null): Shape {
    const element = region.allocation?.elementBytes ?? 0;
    if (region.space === "shared") return { kind: "banks", pitch: BANKS * bankBytes };
    const rows = pitch ? (window.last - window.first + 1) / pitch : 0;
    if (pitch && rows >= LEAST_ROWS && SIMPLE.includes(element || region.element)) return { kind: "matrix", pitch };
    return element > 16 || (element && !SIMPLE.includes(element))
        ? { kind: "structs", pitch: element }
        : { kind: "array", pitch: 0 };
}
// Allocations by their numbers; behind those all of shared and local memory, then variables of shared memory.
const shapeKey = ({ space, allocation }: Region) =>
    space === "global"
        ? (allocation?.allocation ?? 0)
        : space === "local"
          ? 1e9 + 1
          : allocation
            ? 1e9 + 2 + allocation.allocation
            : 1e9;

// The pitch of a matrix that the first requests to it show.
function useInferred(region: Region | null): { pitch: number | null; waiting: boolean } {
    const { launch, source } = useModel(),
        global = region?.space === "global" && region.last - region.first >= LEAST_MATRIX;
    const found = useAsk(
        `${launch.launch}|${region?.first}`,
        global && region ? `pitch|${region.first}|${region.last}` : null,
        (signal) => {
            const range = { space: region!.space, first: region!.first, last: region!.last };
            return source.records(launch.launch, { ...NO_FILTER, range }, 0, LOOKED_THROUGH, signal);
        },
    );
    const pitch = useMemo(
        () => (found.data && region ? inferPitch(found.data, region.first, region.last, region.element) : null),
        [found.data, region],
    );
    return { pitch, waiting: global && !found.data && !found.error };
}
const LEAST_MATRIX = 1024,
    LOOKED_THROUGH = 1000;

interface Guess {
    launch: LaunchInfo;
    inferred: number | null;
}
function guessPitch({ launch, inferred }: Guess, region: Region, kind: Shape["kind"]): number {
    const { allocation } = region,
        size = region.last - region.first + 1;
    if (kind === "banks") return BANKS * launch.bankBytes;
    if (kind === "matrix" && inferred) return inferred;
    if (kind === "structs")
        return allocation?.elementBytes && allocation.elementBytes > 4 ? allocation.elementBytes : 16;
    const edge = Math.floor(Math.sqrt(size / region.element + 1e-9));
    if (edge * edge * region.element === size) return edge * region.element;
    if (edge * (edge + 1) * region.element === size) return (edge + 1) * region.element; // rows padded by an element
    if (region.space === "shared") return 128;
    return Math.min(size, launch.grid[0] * launch.block[0] * region.element);
}

function ShapeTools({ region, shape, inferred }: { region: Region; shape: Shape; inferred: number | null }) {
    const model = useModel(),
        { launch, state } = model;
    const put = (next: Shape) => model.set({ shapes: { ...state.shapes, [shapeKey(region)]: next } });
    const per = shape.kind === "matrix" ? region.element : 1;
    const [text, setText] = useState(String(shape.pitch / per));
    useEffect(() => setText(String(shape.pitch / per)), [shape.pitch, per]);
    const take = () => {
        const n = Number(text),
            size = region.last - region.first + 1;
        if (Number.isInteger(n) && n >= 1 && n * per <= size) put({ ...shape, pitch: n * per });
        else setText(String(shape.pitch / per));
    };
    return (
        <>
            <Choice
                label="Lay out as"
                value={shape.kind}
                options={[
                    ...(region.space === "shared" ? [["banks", "banks"] as [Shape["kind"], string]] : []),
                    ["array", "array"],
                    ["matrix", "matrix"],
                    ["structs", "structs"],
                ]}
                onChoose={(kind) =>
                    put({ kind, pitch: kind === "array" ? 0 : guessPitch({ launch, inferred }, region, kind) })
                }
            />
            {shape.kind !== "array" && shape.kind !== "banks" && (
                <label class="inline">
                    <input
                        type="number"
                        min="1"
                        value={text}
                        aria-label={shape.kind === "matrix" ? "Columns of the matrix" : "Bytes of a struct"}
                        onInput={(event) => setText(event.currentTarget.value)}
                        onBlur={take}
                        onKeyDown={(event) => event.key === "Enter" && take()}
                    />
                    {shape.kind === "matrix" ? "columns" : "bytes"}
                </label>
            )}
        </>
    );
}

// The allocation or variable of the space that the pointer is at, elsewhere.
function useHoveredAllocation(model: Model, space: Space): number | null {
    const [at, setAt] = useState<number | null>(null);
    useEffect(
        () =>
            model.hover.watch(() => {
                const hover = model.hover.get(),
                    record = hover?.record;
                const address =
                    record?.space === space
                        ? record.addresses[hover!.lane ?? record.addresses.findIndex((a) => !Number.isNaN(a))]
                        : undefined;
                setAt(address === undefined ? null : (ownerOf(model.launch, space, address)?.allocation ?? null));
            }),
        [model.launch, space],
    );
    return at;
}

// How many accesses of the filter each allocation has.
function useWeights(space: Space): Group[] | null {
    const { launch, state, source } = useModel(),
        several = space === "global" && launch.allocations.filter((a) => a.touched).length > 1;
    const groups = useAsk(
        launch.launch,
        several ? `allocations|${JSON.stringify(state.filter)}` : null,
        async (signal) => ({
            filter: state.filter,
            ...(await source.groups(launch.launch, state.filter, "allocation", LISTED, signal)),
        }),
    );
    return groups.data && groups.data.filter === state.filter ? groups.data.rows : null;
}

// The allocation that wastes most, or has most accesses.
function heaviest(launch: LaunchInfo, weights: Group[] | null): Allocation | null {
    const lost = (g: Group) => g.sectors - g.idealSectors,
        sorted = [...(weights ?? [])].sort((a, b) => lost(b) - lost(a) || b.accesses - a.accesses);
    for (const group of sorted) {
        const found = launch.allocations.find((a) => `${a.allocation}` === group.key);
        if (found && group.accesses) return found;
    }
    return null;
}

// A filter that leaves nothing of what the map shows takes it along to what it leaves most of.
function useFollow(shown: Allocation | null, weights: Group[] | null): void {
    const model = useModel(),
        { launch, state } = model;
    const followed = useRef(state.filter);
    useEffect(() => {
        if (!weights || followed.current === state.filter) return;
        followed.current = state.filter;
        if (!isFiltered(state.filter) || !shown || shown.address < 0) return;
        if (weights.some((g) => g.key === `${shown.allocation}` && g.accesses)) return;
        const next = heaviest(launch, weights);
        if (next) model.set({ window: { space: "global", first: next.address, last: next.address + next.size - 1 } });
    }, [weights, state.filter]);
}

function AllocationRow({
    a,
    space,
    group,
    most,
    shown,
    hovered,
    onShow,
}: {
    a: Allocation;
    space: Space;
    group: Group | undefined;
    most: number;
    shown: boolean;
    hovered: boolean;
    onShow: () => void;
}) {
    const global = space === "global";
    return (
        <li>
            <button
                class={`${shown ? "on" : ""} ${hovered ? "lit" : ""} ${a.touched ? "" : "idle"}`}
                aria-pressed={shown}
                title={
                    `${a.declaration ?? allocationName(a)}\n${a.kind}, ${count(a.size)} B at ` +
                    `${hex(a.address)}${a.path ? `\n${a.path}:${a.line}` : ""}` +
                    `${group ? `\n${counted(group.accesses, "access", "accesses")}` : ""}`
                }
                onClick={onShow}
            >
                <code>{a.declaration ?? allocationName(a)}</code>
                <small>
                    {bytes(a.size)}
                    {a.elementBytes
                        ? ` · ${count(Math.floor(a.size / a.elementBytes))} × ${a.type ?? `${a.elementBytes} B`}`
                        : ""}
                </small>
                <small class="soft">
                    {a.path ? `${a.path.split("/").pop()}:${a.line}` : a.kind} ·{" "}
                    {global ? hex(a.address) : `+${count(a.address)}`}
                </small>
                {global && (
                    <Share value={(group?.bytes ?? 0) / most}>
                        <span />
                    </Share>
                )}
            </button>
        </li>
    );
}

function AllocationList({ space, shown, weights }: { space: Space; shown: number | null; weights: Group[] | null }) {
    const model = useModel(),
        { launch } = model,
        list = space === "global" ? launch.allocations : launch.shared;
    const [text, setText] = useState(""),
        [all, setAll] = useState(false);
    const hovered = useHoveredAllocation(model, space);
    const weight = new Map((weights ?? []).map((g) => [Number(g.key), g])),
        most = Math.max(1, ...[...weight.values()].map((g) => g.bytes));
    const wanted = text.trim().toLowerCase(),
        touched = list.some((a) => a.touched);
    const rows = list.filter(
        (a) =>
            (all || !touched || a.touched || a.allocation === shown) &&
            (!wanted ||
                [a.variable, a.declaration, a.type, a.path, hex(a.address)].some((t) =>
                    t?.toLowerCase().includes(wanted),
                )),
    );
    const hidden = list.length - list.filter((a) => a.touched).length,
        whole = space === "shared" ? regionOf(launch, model.sites, space, null) : null;
    const show = ({ first, last }: { first: number; last: number }) => model.set({ window: { space, first, last } });
    return (
        <div class="allocations">
            <div class="headline">
                <input
                    type="search"
                    placeholder={space === "global" ? "Find an allocation" : "Find a variable"}
                    aria-label="Find an allocation"
                    value={text}
                    onInput={(event) => setText(event.currentTarget.value)}
                />
            </div>
            <ul>
                {whole && list.length > 1 && (
                    <li>
                        <button
                            class={shown === null ? "on" : ""}
                            aria-pressed={shown === null}
                            onClick={() => show(whole)}
                        >
                            <code>all of it</code>
                            <small>{bytes(whole.last - whole.first + 1)}</small>
                        </button>
                    </li>
                )}
                {rows.slice(0, LISTED).map((a) => (
                    <AllocationRow
                        a={a}
                        space={space}
                        group={weight.get(a.allocation)}
                        most={most}
                        shown={a.allocation === shown}
                        hovered={a.allocation === hovered}
                        onShow={() => show({ first: a.address, last: a.address + a.size - 1 })}
                    />
                ))}
            </ul>
            {!rows.length && (
                <p class="soft pad">
                    No allocation matches.{" "}
                    <button
                        class="link"
                        onClick={() => {
                            setText("");
                            setAll(true);
                        }}
                    >
                        Show all
                    </button>
                </p>
            )}
            {touched && hidden > 0 && (
                <label class="check">
                    <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
                    {count(hidden)} not touched by this launch
                </label>
            )}
        </div>
    );
}

// The size of an element on the page, once it has one.
function useSize(again: unknown) {
    const place = useRef<HTMLDivElement>(null);
    const [size, setSize] = useState<{ width: number; height: number }>({ width: 0, height: 0 });
    useEffect(() => {
        if (!place.current) return;
        const observer = new ResizeObserver(
            () =>
                place.current?.clientWidth &&
                setSize({ width: place.current.clientWidth, height: place.current.clientHeight }),
        );
        observer.observe(place.current);
        return () => observer.disconnect();
    }, [again]);
    return { place, size };
}

function windowOf(region: Region, asked: Range | null): Range {
    return asked && asked.space === region.space && asked.last >= region.first && asked.first <= region.last
        ? { space: region.space, first: Math.max(region.first, asked.first), last: Math.min(region.last, asked.last) }
        : region;
}

// To what is selected and pinned, with a row more on both sides.
function zoomToSelection(model: Model, { region, shape }: Shown): void {
    const marks = marksOf(model, region.space).filter(
        (mark) => mark.kind !== "hover" && mark.last >= region.first && mark.first <= region.last,
    );
    if (!marks.length) return;
    const quantum = shape.kind === "array" ? region.element * 16 : Math.max(1, shape.pitch);
    const low = Math.min(...marks.map((m) => m.first)) - region.first,
        high = Math.max(...marks.map((m) => m.last)) - region.first;
    const first = region.first + Math.max(0, Math.floor(low / quantum) - 1) * quantum,
        last = region.first + (Math.floor(high / quantum) + 2) * quantum - 1;
    model.set({ window: { space: region.space, first, last: Math.min(region.last, last) } });
}

const isWhole = ({ region, window }: Shown) => window.first === region.first && window.last === region.last;

function MapTools({ space, shown, inferred }: { space: Space; shown: Shown | null; inferred: number | null }) {
    const model = useModel(),
        { launch, state } = model,
        spaces = launch.spaces.map((s) => s.space);
    const show = ({ space: of, first, last }: Range) => model.set({ window: { space: of, first, last } });
    return (
        <>
            {shown && (state.record !== null || state.pins.length > 0 || state.bytes) && (
                <button onClick={() => zoomToSelection(model, shown)}>Zoom to selection</button>
            )}
            {shown && !isWhole(shown) && <button onClick={() => show(shown.region)}>Show all of it</button>}
            {shown && <ShapeTools region={shown.region} shape={shown.shape} inferred={inferred} />}
            {spaces.length > 1 && (
                <Choice
                    label="Space of the map"
                    value={space}
                    options={spaces.map((s): [Space, string] => [s, s])}
                    onChoose={(next) => {
                        const to = regionOf(launch, model.sites, next, firstOf(launch, next));
                        if (to) show(to);
                    }}
                />
            )}
        </>
    );
}

// What is shown, and what its colours mean.
function Legend({ shown }: { shown: Shown }) {
    const { region, window } = shown,
        all = region.last - region.first + 1;
    return (
        <>
            <b>{region.name}</b>{" "}
            <span class="soft">
                {region.space === "shared" && region.allocation && "of each CTA, "}
                {isWhole(shown) ? bytes(all) : `${bytes(window.last - window.first + 1)} of ${bytes(all)}`}
            </span>{" "}
            <Inks />
        </>
    );
}

export function AddressesView() {
    const model = useModel(),
        { launch, state } = model;
    const weights = useWeights("global");
    const preferred = useMemo(() => heaviest(launch, weights), [launch, weights]);
    const { space, allocation } = chosen(model, preferred);
    const region = useMemo(() => regionOf(launch, model.sites, space, allocation), [launch, space, allocation]);
    useFollow(space === "global" ? allocation : null, weights);
    const inferred = useInferred(region);
    const { place, size } = useSize(!region);
    const unit = unitOf(),
        own = region ? state.shapes[shapeKey(region)] : undefined;
    const window = region && windowOf(region, state.window);
    const shape =
        own ??
        (region && window && !inferred.waiting ? defaultShape(region, window, launch.bankBytes, inferred.pitch) : null);
    const shown: Shown | null = region && window && shape && { region, window, shape };
    const picture = usePicture(shown, size.width, size.height, unit);
    if (!launch.spaces.length) return <Unrecorded />;
    return (
        <>
            <Head tools={<MapTools space={space} shown={shown} inferred={inferred.pitch} />}>
                {shown && <Legend shown={shown} />}
            </Head>
            <div class="map">
                {(space === "global" || (space === "shared" && launch.shared.length > 0)) && (
                    <AllocationList
                        key={space}
                        space={space}
                        shown={region?.allocation?.allocation ?? null}
                        weights={space === "global" ? weights : null}
                    />
                )}
                <div class="memory">
                    {region && window ? (
                        <>
                            <AddressBand
                                key={`${region.space}${region.first}`}
                                region={region}
                                window={window}
                                whole={
                                    (shown && !isWhole(shown)) || (picture && picture.grid.slices.length > 1)
                                        ? undefined
                                        : (picture?.density.data?.[0] ?? null)
                                }
                            />
                            <p class="soft scale">{picture?.sums && scaleText(picture.grid, picture.sums)}</p>
                            <div class="cells" ref={place}>
                                {picture && shown && (
                                    <AddressGrid shown={shown} picture={picture} width={size.width} unit={unit} />
                                )}
                            </div>
                        </>
                    ) : (
                        <Empty title="No allocation was live at this launch.">
                            None was recorded. Warps and Order still show the accesses.
                        </Empty>
                    )}
                </div>
            </div>
        </>
    );
}
