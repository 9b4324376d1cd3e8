// Which launch a page begins with, and what of a link still exists in this run.
import type { LaunchInfo, RunInfo, Source } from "./source";
import { allocationAt } from "./places";
import { hex, type State } from "./state";

const LOOKED_AT = 200; // launches searched for a recorded one at a time

export async function firstLaunch(source: Source, run: RunInfo): Promise<number | null> {
    for (let from = 0; from < run.launchCount; from += LOOKED_AT) {
        const { rows } = await source.launches("", from, LOOKED_AT);
        const recorded = rows.find((row) => row.recorded !== "none" && row.records > 0);
        if (recorded) return recorded.launch;
        if (!rows.length) break;
    }
    const { rows } = await source.launches("", 0, 1);
    return rows[0]?.launch ?? null;
}

export function repair(
    state: State,
    run: RunInfo,
    launch: LaunchInfo,
): { change: Partial<State> | null; problems: string[] } {
    const change: Partial<State> = {},
        problems: string[] = [];
    const gone = (what: string) => problems.push(`${what} does not exist in launch ${launch.launch}; it was ignored.`);
    const sites = new Set(run.sites.map((site) => site.site)),
        sources = new Set(run.sources.map((source) => source.source));
    const filter = { ...state.filter };
    const keepSites = filter.sites.filter((site) => sites.has(site) || (gone(`Site ${site} of the filter`), false));
    const keepLines = filter.lines.filter(
        (line) => sources.has(line.source) || (gone(`Line ${line.line} of source ${line.source}`), false),
    );
    if (keepSites.length !== filter.sites.length || keepLines.length !== filter.lines.length)
        change.filter = { ...filter, sites: keepSites, lines: keepLines };
    if (state.record !== null && state.record >= launch.records && !run.sampled) {
        gone(`Record ${state.record}`);
        change.record = null;
        change.lane = null;
    }
    const pins = run.sampled
        ? state.pins
        : state.pins.filter(
              (pin) => pin.index === null || pin.index < launch.records || (gone(`Pinned record ${pin.index}`), false),
          );
    if (pins.length !== state.pins.length) change.pins = pins;
    if (state.source !== null && !sources.has(state.source)) {
        gone(`Source ${state.source}`);
        change.source = null;
        change.line = null;
    }
    if (state.window?.space === "global" && !allocationAt(launch, state.window.first)) {
        gone(`The memory at ${hex(state.window.first)}`);
        change.window = null;
    }
    if (state.compare?.other && !run.otherRun) {
        problems.push("The link compares with another run, but this page has only one run.");
        change.compare = null;
    }
    return { change: Object.keys(change).length ? change : null, problems };
}
