// The bar on top: the run, the launch that is shown and the way to another, the search, warnings.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, counted, shortName, time } from "../format";
import { openNeighbour } from "./keys";
import { useModel } from "./model";
import { LaunchList } from "./launch-list";
import { extentText, programName } from "./places";
import { Search } from "./search";

export function useOutside(open: boolean, close: () => void) {
    const place = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!open) return;
        const press = (event: PointerEvent) => place.current?.contains(event.target as Node) || close();
        const key = (event: KeyboardEvent) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            if (place.current?.contains(document.activeElement)) (document.activeElement as HTMLElement).blur();
            close();
        };
        addEventListener("pointerdown", press);
        addEventListener("keydown", key, true);
        return () => {
            removeEventListener("pointerdown", press);
            removeEventListener("keydown", key, true);
        };
    }, [open]);
    return place;
}

function LaunchPicker() {
    const model = useModel(),
        { launch, run } = model;
    const [open, setOpen] = useState(false);
    const place = useOutside(open, () => setOpen(false));
    return (
        <div class="launch" ref={place}>
            <button
                class="icon"
                aria-label="Previous launch"
                title="Previous launch ([)"
                onClick={() => void openNeighbour(model, -1)}
            >
                ‹
            </button>
            <button
                class="picker"
                aria-haspopup="listbox"
                aria-expanded={open}
                onClick={() => setOpen(!open)}
                title={launch.name}
            >
                <span class="num">#{launch.launch}</span>
                <code>{shortName(launch.name)}</code>
                <span class="soft">
                    {new Set(run.devices.map((device) => device.rank)).size > 1 && `rank ${launch.rank} · `}
                    {extentText(launch.grid)} × {extentText(launch.block)}
                    {launch.end > launch.start ? ` · ${time(launch.end - launch.start)}` : ""} ·{" "}
                    {counted(launch.accesses, "access", "accesses")}
                </span>
                <span class="soft">▾</span>
            </button>
            <button
                class="icon"
                aria-label="Next launch"
                title="Next launch (])"
                onClick={() => void openNeighbour(model, 1)}
            >
                ›
            </button>
            {open && <LaunchList close={() => setOpen(false)} />}
        </div>
    );
}

function Warnings() {
    const { run, launch } = useModel();
    const [open, setOpen] = useState(false);
    const place = useOutside(open, () => setOpen(false));
    const all = [
        ...run.warnings,
        ...(run.sampled ? [run.sampled] : []),
        ...(launch.unreadable
            ? [`${count(launch.unreadable)} of the ${count(launch.records)} requests of this launch cannot be read.`]
            : []),
        ...(launch.recorded === "sample" ? ["Only a sample of the CTAs of this launch was recorded."] : []),
        ...(launch.recorded === "none" ? ["This launch was not recorded."] : []),
    ];
    if (!all.length) return null;
    return (
        <div class="warn" ref={place}>
            <button
                class="warned"
                aria-expanded={open}
                onClick={() => setOpen(!open)}
                title="Data missing from this run"
            >
                ⚠ {all.length}
            </button>
            {open && (
                <div class="popup warnings" role="alert">
                    <ul>
                        {all.map((text) => (
                            <li>{text}</li>
                        ))}
                    </ul>
                    {!run.sampled && (
                        <button class="again" onClick={() => location.reload()}>
                            Reload the run
                        </button>
                    )}
                </div>
            )}
        </div>
    );
}

export function TopBar({ onHelp }: { onHelp: () => void }) {
    const { run } = useModel();
    const name = programName(run);
    const details = [
        run.arguments ?? run.program,
        run.host && `on ${run.host}`,
        run.devices.map((d) => d.name).join(", "),
        run.path,
        `ctascope ${run.version}`,
    ];
    return (
        <header class="top">
            <span class="brand" aria-hidden="true">
                <i />
                <i />
                <i />
                <i />
            </span>
            <h1 title={details.filter(Boolean).join("\n")}>{name}</h1>
            <LaunchPicker />
            <span class="grow" />
            {run.hasTime && (
                <a class="time" href="time" target="_blank" title="Timeline, critical path and waits, in a new tab">
                    Time ↗
                </a>
            )}
            <Search />
            <Warnings />
            <button class="icon" aria-label="Help" title="Keys and help (?)" onClick={onHelp}>
                ?
            </button>
        </header>
    );
}
