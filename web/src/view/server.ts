// Asks the server of `ctascope view`, which docs/view-protocol.md describes. Answers that the page
// is likely to want again are kept; `run()` forgets them, since it is asked when the run has changed.
import type { Memory } from "../data";
import type { FlowData } from "../flow-data";
import type { RunFindings } from "../run-findings";
import { decodeColumns, type Columns } from "./columns";
import type {
    Conflict,
    Density,
    Diff,
    Filter,
    FindingRow,
    Group,
    GroupBy,
    HistoryRow,
    LaunchInfo,
    LaunchRow,
    LaunchSort,
    LineRow,
    Order,
    Records,
    RunInfo,
    Source,
    Space,
    TimelineRow,
    Touch,
} from "./source";

type Query = { [key: string]: string | number | null | undefined };

const KEPT = 100;

// A filter as the server reads it; parts that let everything through are left out.
export function filterQuery(filter: Filter): Query {
    const ranges = (list: [number, number][]) =>
        list.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
    return {
        ctas: ranges(filter.ctas) || null,
        warps: ranges(filter.warps) || null,
        sites: filter.sites.join(",") || null,
        lines: filter.lines.map(({ source, line }) => `${source}:${line}`).join(",") || null,
        kinds: filter.kinds.join(",") || null,
        only: filter.space,
        range: filter.range && `${filter.range.space}:${filter.range.first}-${filter.range.last}`,
        partial: filter.partial ? 1 : null,
    };
}

export class ServerSource implements Source {
    private readonly kept = new Map<string, unknown>();
    private another: ServerSource | null = null;
    private state: string | null = null; // of the run's files, when `run()` was asked
    private told: (() => void) | null = null;

    // `base` ends with a slash: of the page's own address, or "other/".
    constructor(private readonly base = "") {}

    private async fetch(question: string, query: Query, signal?: AbortSignal): Promise<Response> {
        const texts = Object.entries(query)
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([key, value]) => [key, String(value)]);
        let response: Response;
        try {
            response = await fetch(`${this.base}api/${question}?${new URLSearchParams(texts)}`, {
                signal,
                cache: "no-store",
            });
        } catch (error) {
            if (signal?.aborted) throw error;
            throw new Error("ctascope view no longer responds; restart it and open the address that it prints");
        }
        if (response.ok) {
            const state = response.headers.get("Ctascope-State");
            if (question === "run") this.state = state;
            else if (this.state !== null && state !== this.state) this.told?.();
            return response;
        }
        const told = (await response.json().catch(() => null)) as { error?: string } | null;
        throw new Error(told?.error ?? `the server answered ${response.status}`);
    }

    private async ask<T>(
        question: string,
        query: Query,
        take: (response: Response) => Promise<T>,
        signal?: AbortSignal,
    ): Promise<T> {
        const key = `${question} ${JSON.stringify(query)}`,
            known = this.kept.get(key);
        if (known !== undefined) {
            this.kept.delete(key); // the one used last goes last
            this.kept.set(key, known);
            return known as T;
        }
        const answer = await take(await this.fetch(question, query, signal));
        this.kept.set(key, answer);
        for (const old of this.kept.keys()) {
            if (this.kept.size <= KEPT) break;
            this.kept.delete(old);
        }
        return answer;
    }

    private json<T>(question: string, query: Query, signal?: AbortSignal): Promise<T> {
        return this.ask(question, query, (response) => response.json() as Promise<T>, signal);
    }

    private columns<T>(
        question: string,
        query: Query,
        make: (columns: Columns) => T,
        signal?: AbortSignal,
    ): Promise<T> {
        return this.ask(question, query, async (response) => make(decodeColumns(await response.arrayBuffer())), signal);
    }

    onChange(told: () => void): void {
        this.told = told;
    }

    async run(): Promise<RunInfo> {
        this.kept.clear();
        const run = (await (await this.fetch("run", {})).json()) as RunInfo;
        if (run.otherRun !== null && !this.another) this.another = new ServerSource(`${this.base}other/`);
        return run;
    }

    timeline(
        from: number,
        to: number,
        bins: number,
        signal?: AbortSignal,
    ): Promise<{ begin: number; end: number; rows: TimelineRow[] }> {
        const start = Math.max(0, Math.floor(from));
        return this.json(
            "timeline",
            { from: start, to: Math.max(start + 1, Math.ceil(to)), bins: Math.max(1, Math.floor(bins)) },
            signal,
        );
    }

    launches(
        search: string,
        from: number,
        count: number,
        signal?: AbortSignal,
        sort: LaunchSort = "launch",
    ): Promise<{ total: number; rows: LaunchRow[] }> {
        return this.json("launches", { search, from, count, sort: sort === "launch" ? null : sort }, signal);
    }

    async neighbours(launch: number): Promise<LaunchRow[]> {
        return (await this.json<{ rows: LaunchRow[] }>("launches", { beside: launch })).rows;
    }

    launch(launch: number, signal?: AbortSignal): Promise<LaunchInfo> {
        return this.json("launch", { launch }, signal);
    }

    records(launch: number, filter: Filter, from: number, count: number, signal?: AbortSignal): Promise<Records> {
        return this.columns("records", { launch, ...filterQuery(filter), from, count }, recordsOf, signal);
    }

    async position(launch: number, filter: Filter, index: number, signal?: AbortSignal): Promise<number> {
        return (await this.json<{ position: number }>("position", { launch, ...filterQuery(filter), index }, signal))
            .position;
    }

    groups(
        launch: number,
        filter: Filter,
        by: GroupBy,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Group[] }> {
        return this.json("groups", { launch, ...filterQuery(filter), by, count }, signal);
    }

    density(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        cells: number,
        signal?: AbortSignal,
    ): Promise<Density> {
        return this.columns(
            "density",
            { launch, ...filterQuery(filter), space, first, last, cells },
            ({ numbers, columns }) => ({
                space,
                first: numbers[0],
                cellBytes: numbers[1],
                reads: columns[0] as Float64Array,
                writes: columns[1] as Float64Array,
            }),
            signal,
        );
    }

    touching(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Touch[] }> {
        return this.json("touching", { launch, ...filterQuery(filter), space, first, last, count }, signal);
    }

    conflicts(
        launch: number,
        filter: Filter,
        space: Space,
        count: number,
        signal?: AbortSignal,
    ): Promise<{ total: number; rows: Conflict[] }> {
        return this.json("conflicts", { launch, ...filterQuery(filter), space, count }, signal);
    }

    order(
        launch: number,
        filter: Filter,
        space: Space,
        first: number,
        last: number,
        fromRecord: number,
        toRecord: number,
        columns: number,
        rows: number,
        signal?: AbortSignal,
    ): Promise<Order> {
        return this.columns(
            "order",
            { launch, ...filterQuery(filter), space, first, last, fromRecord, toRecord, columns, rows },
            ({ numbers, columns: counts }) => ({
                columns: numbers[0],
                rows: numbers[1],
                firstRecord: numbers[2],
                lastRecord: numbers[3],
                first: numbers[4],
                last: numbers[5],
                reads: counts[0] as Uint32Array,
                writes: counts[1] as Uint32Array,
            }),
            signal,
        );
    }

    source(source: number): Promise<string> {
        return this.ask("source", { source }, (response) => response.text());
    }

    async lines(source: number, launch: number | null, signal?: AbortSignal): Promise<LineRow[]> {
        return (await this.json<{ rows: LineRow[] }>("lines", { source, launch }, signal)).rows;
    }

    async findings(launch: number | null, signal?: AbortSignal): Promise<FindingRow[]> {
        return (await this.json<{ rows: FindingRow[] }>("findings", { launch }, signal)).rows;
    }

    runFindings(signal?: AbortSignal): Promise<RunFindings> {
        return this.json("run-findings", {}, signal);
    }

    diff(): Promise<Diff> {
        return this.json("diff", {});
    }

    other(): Source | null {
        return this.another;
    }

    history(first: number, last: number, signal?: AbortSignal): Promise<{ total: number; rows: HistoryRow[] }> {
        return this.json("history", { first, last }, signal);
    }

    flow(signal?: AbortSignal): Promise<FlowData> {
        return this.json("flow", {}, signal);
    }

    communication(signal?: AbortSignal): Promise<Memory> {
        return this.json("communication", {}, signal);
    }
}

export function recordsOf({ numbers, columns }: Columns): Records {
    const values = columns[11] as Uint8Array;
    return {
        total: numbers[0],
        index: columns[0] as Float64Array,
        cta: columns[1] as Uint32Array,
        warp: columns[2] as Uint16Array,
        site: columns[3] as Uint32Array,
        space: columns[4] as Uint8Array,
        mask: columns[5] as Uint32Array,
        addresses: columns[6] as Float64Array,
        sectors: columns[7] as Uint16Array,
        idealSectors: columns[8] as Uint16Array,
        wavefronts: columns[9] as Uint16Array,
        idealWavefronts: columns[10] as Uint16Array,
        values: numbers[1] ? values : null,
        hasValues: columns[12] as Uint8Array,
        valueBytes: numbers[1],
    };
}
