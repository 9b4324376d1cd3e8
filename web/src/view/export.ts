// What the filter lets through as CSV, with the columns of `ctascope export --format csv`: a line for
// each lane. The record is the number that the page shows.
import { saveAs } from "../save";
import type { Model } from "./model";
import { coordinates } from "./places";
import { recordAt, valueOf, type One } from "./records";
import { lanesOf } from "./requests";
import { hex } from "./state";
import { hexText } from "./values";

export const EXPORTED = 4096; // requests at most: some 15 MB

const HEAD =
    "launch,kernel,record,block_x,block_y,block_z,warp,lane,thread_x,thread_y,thread_z," +
    "address,value,site,operation,space,size,type,variable,file,line";

const quoted = (text: string | null) =>
    text === null ? "" : /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;

function linesOf({ launch, run, sites }: Model, one: One): string[] {
    const site = sites.get(one.site),
        source = run.sources.find((s) => s.source === site?.source);
    const before = [launch.launch, quoted(launch.name), one.index, ...coordinates(one.cta, launch.grid), one.warp];
    const after = [
        one.site,
        site?.operation,
        one.space,
        site?.width,
        quoted(site?.type ?? null),
        quoted(site?.variable ?? null),
        quoted(source?.path ?? null),
        site?.line ?? "",
    ];
    return lanesOf(one.mask).map((lane) => {
        const value = valueOf(one, lane, site?.width ?? 1);
        return [
            ...before,
            lane,
            ...coordinates(32 * one.warp + lane, launch.block),
            hex(one.addresses[lane]),
            value ? hexText(value) : "",
            ...after,
        ].join(",");
    });
}

export async function csvOf(model: Model): Promise<{ text: string; requests: number; total: number }> {
    const records = await model.source.records(model.launch.launch, model.state.filter, 0, EXPORTED),
        requests = records.index.length;
    const lines = Array.from(records.index, (_, i) => linesOf(model, recordAt(records, i))).flat();
    return { text: [HEAD, ...lines, ""].join("\n"), requests, total: records.total };
}

export const save = (name: string, text: string) => saveAs(name, new Blob([text], { type: "text/csv" }));
