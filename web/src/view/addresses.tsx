// The address map: every allocation alive at the launch, or every variable of shared memory, one of
// them in full as a band and as cells, laid out as an array, a matrix or structs.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count } from "../format";
import { AddressGrid, usePicture, type Region } from "./address-grid";
import { AddressBand } from "./address-band";
import { useAsk } from "./ask";
import { unitOf } from "./canvas";
import { marksOf, useModel, type Model } from "./model";
import { Choice, Empty, Head, Share, Unrecorded } from "./parts";
import { allocationName, ownerOf } from "./places";
import type { Allocation, LaunchInfo, Site, Space } from "./source";
import { hex, type Range, type Shape } from "./state";

const LISTED = 300;
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

// Which piece of memory is shown: that of the window, else of the selection, else the first touched.
function chosen(model: Model): { space: Space; allocation: Allocation | null } {
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
    return { space, allocation: (lane !== undefined ? ownerOf(launch, space, lane) : null) ?? firstOf(launch, space) };
}
function firstOf(launch: LaunchInfo, space: Space): Allocation | null {
    if (space === "global") return launch.allocations.find((a) => a.touched) ?? launch.allocations[0] ?? null;
    return space === "shared" && launch.shared.length === 1 ? launch.shared[0] : null;
}

function defaultShape(region: Region): Shape {
    const element = region.allocation?.elementBytes ?? 0;
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

function guessPitch(launch: LaunchInfo, region: Region, kind: Shape["kind"]): number {
    const { allocation } = region,
        size = region.last - region.first + 1;
    if (kind === "structs")
        return allocation?.elementBytes && allocation.elementBytes > 4 ? allocation.elementBytes : 16;
    const edge = Math.floor(Math.sqrt(size / region.element + 1e-9));
    if (edge * edge * region.element === size) return edge * region.element;
    if (edge * (edge + 1) * region.element === size) return (edge + 1) * region.element; // rows padded by an element
    if (region.space === "shared") return 128;
    return Math.min(size, launch.grid[0] * launch.block[0] * region.element);
}

function ShapeTools({ region, shape }: { region: Region; shape: Shape }) {
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
                    ["array", "array"],
                    ["matrix", "matrix"],
                    ["structs", "structs"],
                ]}
                onChoose={(kind) => put({ kind, pitch: kind === "array" ? 0 : guessPitch(launch, region, kind) })}
            />
            {shape.kind !== "array" && (
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

function AllocationList({ space, shown }: { space: Space; shown: number | null }) {
    const model = useModel(),
        { launch, state } = model,
        list = space === "global" ? launch.allocations : launch.shared;
    const [text, setText] = useState(""),
        [all, setAll] = useState(false);
    const hovered = useHoveredAllocation(model, space);
    const groups = useAsk(
        launch.launch,
        space === "global" && list.filter((a) => a.touched).length > 1
            ? `allocations|${JSON.stringify(state.filter)}`
            : null,
        (signal) => model.source.groups(launch.launch, state.filter, "allocation", LISTED, signal),
    );
    const weight = new Map((groups.data?.rows ?? []).map((g) => [Number(g.key), g])),
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
                {rows.slice(0, LISTED).map((a) => {
                    const group = weight.get(a.allocation);
                    return (
                        <li>
                            <button
                                class={
                                    `${a.allocation === shown ? "on" : ""} ` +
                                    `${a.allocation === hovered ? "lit" : ""} ${a.touched ? "" : "idle"}`
                                }
                                aria-pressed={a.allocation === shown}
                                title={
                                    `${a.declaration ?? allocationName(a)}\n${a.kind}, ${count(a.size)} B at ` +
                                    `${hex(a.address)}${a.path ? `\n${a.path}:${a.line}` : ""}` +
                                    `${group ? `\n${count(group.accesses)} accesses` : ""}`
                                }
                                onClick={() => show({ first: a.address, last: a.address + a.size - 1 })}
                            >
                                <code>{a.declaration ?? allocationName(a)}</code>
                                <small>
                                    {bytes(a.size)}
                                    {a.elementBytes
                                        ? ` · ${count(Math.floor(a.size / a.elementBytes))} × ` +
                                          `${a.type ?? `${a.elementBytes} B`}`
                                        : ""}
                                </small>
                                <small class="soft">
                                    {a.path ? `${a.path.split("/").pop()}:${a.line}` : a.kind} ·{" "}
                                    {space === "global" ? hex(a.address) : `+${count(a.address)}`}
                                </small>
                                {space === "global" && (
                                    <Share value={(group?.bytes ?? 0) / most}>
                                        <span />
                                    </Share>
                                )}
                            </button>
                        </li>
                    );
                })}
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

export function AddressesView() {
    const model = useModel(),
        { launch, state } = model;
    const { space, allocation } = chosen(model);
    const region = useMemo(() => regionOf(launch, model.sites, space, allocation), [launch, space, allocation]);
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
    }, [!region]);
    const unit = unitOf(),
        spaces = launch.spaces.map((s) => s.space);
    const window: Range | null = !region
        ? null
        : state.window &&
            state.window.space === region.space &&
            state.window.last >= region.first &&
            state.window.first <= region.last
          ? {
                space: region.space,
                first: Math.max(region.first, state.window.first),
                last: Math.min(region.last, state.window.last),
            }
          : region;
    const shape = region ? (state.shapes[shapeKey(region)] ?? defaultShape(region)) : null;
    const whole = !!region && !!window && window.first === region.first && window.last === region.last;
    const picture = usePicture(region, window, shape, size.width, size.height, unit);
    const zoomToSelection = () => {
        const marks = marksOf(model, space).filter(
            (mark) => mark.kind !== "hover" && region && mark.last >= region.first && mark.first <= region.last,
        );
        if (!region || !shape || !marks.length) return;
        const quantum = shape.kind === "array" ? region.element * 16 : Math.max(1, shape.pitch);
        const low = Math.min(...marks.map((m) => m.first)) - region.first,
            high = Math.max(...marks.map((m) => m.last)) - region.first;
        const first = region.first + Math.max(0, Math.floor(low / quantum) - 1) * quantum;
        model.set({
            window: {
                space,
                first,
                last: Math.min(region.last, region.first + (Math.floor(high / quantum) + 2) * quantum - 1),
            },
        });
    };
    if (!spaces.length) return <Unrecorded />;
    return (
        <>
            <Head
                tools={
                    <>
                        {(state.record !== null || state.pins.length > 0 || state.bytes) && (
                            <button onClick={zoomToSelection}>Zoom to selection</button>
                        )}
                        {!whole && region && (
                            <button
                                onClick={() =>
                                    model.set({
                                        window: { space: region.space, first: region.first, last: region.last },
                                    })
                                }
                            >
                                Show all of it
                            </button>
                        )}
                        {region && shape && <ShapeTools region={region} shape={shape} />}
                        {spaces.length > 1 && (
                            <Choice
                                label="Space of the map"
                                value={space}
                                options={spaces.map((s): [Space, string] => [s, s])}
                                onChoose={(next) => {
                                    const to = regionOf(launch, model.sites, next, firstOf(launch, next));
                                    if (to) model.set({ window: { space: to.space, first: to.first, last: to.last } });
                                }}
                            />
                        )}
                    </>
                }
            >
                {region && window && (
                    <>
                        <b>{region.name}</b>{" "}
                        <span class="soft">
                            {space === "shared" && region.allocation && "of each CTA, "}
                            {whole
                                ? bytes(region.last - region.first + 1)
                                : `${bytes(window.last - window.first + 1)} of ` +
                                  `${bytes(region.last - region.first + 1)}`}{" "}
                            <i class="dot load" />
                            read <i class="dot store" />
                            written
                        </span>
                    </>
                )}
            </Head>
            <div class="map">
                {(space === "global" || (space === "shared" && launch.shared.length > 0)) && (
                    <AllocationList key={space} space={space} shown={region?.allocation?.allocation ?? null} />
                )}
                <div class="memory">
                    {region && window && shape ? (
                        <>
                            <AddressBand
                                key={`${region.space}${region.first}`}
                                region={region}
                                window={window}
                                whole={
                                    whole && (!picture || picture.grid.slices.length === 1)
                                        ? (picture?.density.data?.[0] ?? null)
                                        : undefined
                                }
                            />
                            <div class="cells" ref={place}>
                                {picture && (
                                    <AddressGrid
                                        region={region}
                                        window={window}
                                        shape={shape}
                                        picture={picture}
                                        width={size.width}
                                        unit={unit}
                                    />
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
