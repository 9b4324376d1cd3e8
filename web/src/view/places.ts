// Names of places: of a block and a thread in their grid, of an address in its allocation, of a site
// in the source.
import { count, shortName } from "../format";
import type { Allocation, LaunchInfo, LaunchRow, OperationKind, RunInfo, Site, Space } from "./source";
import { hex } from "./state";

type Extent = [number, number, number];

export function coordinates(linear: number, extent: Extent): Extent {
    const [x, y] = extent;
    return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
}

// As many dimensions as the extent has.
export function pointText(linear: number, extent: Extent): string {
    const point = coordinates(linear, extent);
    const dimensions = extent[2] > 1 ? 3 : extent[1] > 1 ? 2 : 1;
    return dimensions === 1 ? `${linear}` : `(${point.slice(0, dimensions).join(", ")})`;
}
export const extentText = (extent: Extent) =>
    (extent[2] > 1 ? extent : extent[1] > 1 ? extent.slice(0, 2) : extent.slice(0, 1)).map(count).join("×");

// "1 CTA", "400,000 CTAs", "32×32 CTAs"
export const ctasText = (grid: Extent) => `${extentText(grid)} ${Math.max(...grid) === 1 ? "CTA" : "CTAs"}`;

// Lanes of a warp that have a thread.
export function liveLanes(launch: LaunchRow, warp: number): number {
    const threads = launch.block[0] * launch.block[1] * launch.block[2];
    return Math.max(0, Math.min(32, threads - 32 * warp));
}

// That holds the byte, by bisection: allocations are sorted by address.
export function allocationAt(launch: LaunchInfo, address: number): Allocation | null {
    let low = 0,
        high = launch.allocations.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (launch.allocations[middle].address <= address) low = middle + 1;
        else high = middle;
    }
    const found = launch.allocations[low - 1];
    return found && address < found.address + found.size ? found : null;
}

// Of shared memory the variable that holds the byte of a CTA's window.
export function ownerOf(launch: LaunchInfo, space: Space, address: number): Allocation | null {
    if (space === "global") return allocationAt(launch, address);
    return (
        (space === "shared" && launch.shared.find((a) => address >= a.address && address < a.address + a.size)) || null
    );
}

export const allocationName = (allocation: Allocation) =>
    allocation.variable ?? allocation.declaration ?? `${allocation.kind} at ${hex(allocation.address)}`;

// 'in[1043]', 'in + 4172 B', 'tile[33]', 'shared + 128 B' or the bare address.
export function addressText(launch: LaunchInfo, space: Space, address: number): string {
    const allocation = ownerOf(launch, space, address);
    if (!allocation)
        return space === "global"
            ? `${hex(address)}, outside every allocation`
            : `${space} + ${address.toLocaleString("en-US")} B`;
    const offset = address - allocation.address,
        element = allocation.elementBytes;
    if (!element) return `${allocationName(allocation)} + ${offset.toLocaleString("en-US")} B`;
    const rest = offset % element;
    return `${allocationName(allocation)}[${Math.floor(offset / element)}]${rest ? ` + ${rest} B` : ""}`;
}

export function fileName(run: RunInfo, source: number | null): string | null {
    const found = source === null ? undefined : run.sources.find((s) => s.source === source);
    return found ? found.path.split("/").pop()! : null;
}
// The recorded program; of an import, where the program is ctascope itself, the run.
export function programName(run: RunInfo): string {
    const path = (run.recorder === "import" ? null : run.program) ?? run.path;
    return path.split("/").filter(Boolean).pop() ?? path;
}

export function siteIndex(run: RunInfo): Map<number, Site> {
    return new Map(run.sites.map((site) => [site.site, site]));
}
export function placeText(run: RunInfo, site: Site | undefined): string {
    if (!site) return "?";
    const file = fileName(run, site.source);
    return file && site.line ? `${file}:${site.line}` : shortName(site.function) || `site ${site.site}`;
}

export function kernelName(run: RunInfo, kernel: number): string {
    return run.kernels.find((k) => k.kernel === kernel)?.name ?? `kernel ${kernel}`;
}

export const KIND_NAMES: Record<OperationKind, string> = { load: "loads", store: "stores", atomic: "atomics" };
