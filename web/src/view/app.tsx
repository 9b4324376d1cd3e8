// The page: it holds the state and the URL together, fetches what every part needs (run, launch,
// the selected and the pinned records, findings), and puts the parts where they stand.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, learnNames, shortName } from "../format";
import { Missing } from "../run-findings";
import { messageOf, useAsk } from "./ask";
import { FilterPanel } from "./filters";
import { GroupPanel } from "./groups";
import { Help, Tour } from "./help";
import { Inspector } from "./inspector";
import { firstLaunch, repair } from "./keep";
import { useKeys } from "./keys";
import { ModelContext, type Hover, type Model } from "./model";
import { programName, siteIndex } from "./places";
import { Panes } from "./panes";
import { PAGE, fetchOne, type One } from "./records";
import type { LaunchInfo, RunInfo, Source } from "./source";
import { VIEW_TITLES, type State, type ViewName } from "./state";
import { StatusLine } from "./status";
import { Store, useStore } from "./store";
import { TimelineStrip } from "./strip";
import { TopBar } from "./topbar";
import { decode, encode } from "./url";

// The state, which the fragment of the URL follows and, when a link or the way back changes it, leads.
// Without one, the page opens on the answer: the findings of the run, where they are known.
function useUrlState(say: (notice: string) => void, hasRun: boolean): [State, (change: Partial<State>) => void] {
    const [store] = useState(() => {
        const { state, problems } = decode(location.hash);
        problems.forEach(say);
        return new Store<State>(location.hash.length > 1 ? state : { ...state, view: "findings", wholeRun: hasRun });
    });
    const state = useStore(store);
    const timer = useRef(0);
    const shown = useRef(location.hash);
    useEffect(() => {
        const follow = () => {
            if (location.hash === shown.current) return;
            shown.current = location.hash;
            const { state: read, problems } = decode(location.hash);
            problems.forEach(say);
            store.set(read);
        };
        addEventListener("hashchange", follow);
        addEventListener("popstate", follow);
        return () => {
            removeEventListener("hashchange", follow);
            removeEventListener("popstate", follow);
        };
    }, []);
    const set = (change: Partial<State>) => {
        const before = store.get(),
            next = { ...before, ...change };
        store.set(next);
        // What a person would want to go back to is a step of the history; the rest replaces it.
        const step =
            (change.launch !== undefined && before.launch !== null && change.launch !== before.launch) ||
            (change.view !== undefined && change.view !== before.view);
        const write = () => {
            shown.current = encode(store.get()) || "#";
            history.replaceState(null, "", shown.current);
        };
        clearTimeout(timer.current);
        if (step) history.pushState(null, "", (shown.current = encode(next) || "#"));
        else timer.current = setTimeout(write, 120);
    };
    return [state, set];
}

interface WholeProps {
    title: string;
    text: string;
    action?: () => void;
    children?: ComponentChildren;
}
function Whole({ title, text, action, children }: WholeProps) {
    return (
        <div class="whole">
            <h1>{title}</h1>
            <p>{text}</p>
            {children}
            {action && (
                <button class="primary" onClick={action}>
                    Try again
                </button>
            )}
        </div>
    );
}

// What the run has instead, and how to record the rest.
function NoAccesses({ source, run, retry }: { source: Source; run: RunInfo; retry: () => void }) {
    const findings = useAsk("run", source.runFindings ? "run-findings" : null, (signal) => source.runFindings!(signal));
    return (
        <Whole
            title="No memory accesses in this run"
            text={
                `'${run.path}' has ${counted(run.launchCount, "launch", "launches")} and no memory accesses. ` +
                "Accesses are recorded of a program that was compiled with 'ctascope cc' or runs on an NVIDIA GPU. " +
                "If the run is still being recorded, try again."
            }
            action={retry}
        >
            {findings.data && <Missing data={findings.data} />}
        </Whole>
    );
}

export function App({ source }: { source: Source }) {
    const run = useAsk("run", "run", async () => {
        const info = await source.run();
        learnNames(info.kernels);
        return info;
    });
    if (run.error) return <Whole title="The run cannot be read" text={run.error} action={run.retry} />;
    if (!run.data)
        return (
            <div class="whole">
                <p class="soft working">Opening the run</p>
            </div>
        );
    if (!run.data.recordedLaunchCount) return <NoAccesses source={source} run={run.data} retry={run.retry} />;
    return <RunPage source={source} run={run.data} />;
}

// The selected and pinned records, each fetched once.
function useRecordsOf(
    source: Source,
    launch: number | null,
    indices: number[],
    gone: (index: number) => void,
): Map<number, One> {
    const [have, setHave] = useState<{ launch: number | null; records: Map<number, One> }>({
        launch: null,
        records: new Map(),
    });
    const records = have.launch === launch ? have.records : new Map<number, One>();
    const key = indices.join(",");
    useEffect(() => {
        const control = new AbortController();
        if (launch === null) return;
        for (const index of new Set(indices)) {
            if (records.has(index)) continue;
            fetchOne(source, launch, index, control.signal).then(
                (one) => {
                    if (control.signal.aborted) return;
                    if (!one) return gone(index);
                    setHave((old) => ({
                        launch,
                        records: new Map(old.launch === launch ? old.records : []).set(index, one),
                    }));
                },
                () => control.signal.aborted || gone(index),
            );
        }
        return () => control.abort();
    }, [launch, key]);
    return records;
}

// What a tab of the browser says: each of several has its own.
function titleOf(run: RunInfo, launch: LaunchInfo, view: ViewName): string {
    return `${VIEW_TITLES[view]} · #${launch.launch} ${shortName(launch.name)} · ${programName(run)} – ctascope`;
}

// What is open when another launch is: none of these mean anything there.
const NOTHING_SELECTED: Partial<State> = {
    record: null,
    lane: null,
    pins: [],
    bytes: null,
    window: null,
    order: null,
    compare: null,
};

type Say = (notice: string) => void;
type SetState = (change: Partial<State>) => void;

// The launch of the state, or the first one where that cannot be shown; what a link names of it that this
// run does not have is taken from the state.
function useLaunch(source: Source, run: RunInfo, [state, set]: [State, SetState], say: Say) {
    useEffect(() => {
        if (state.launch === null)
            firstLaunch(source, run).then(
                (launch) => launch !== null && set({ launch }),
                (error) => say(messageOf(error)),
            );
    }, [state.launch]);
    const answer = useAsk("launch", state.launch === null ? null : `${state.launch}`, (signal) =>
        source.launch(state.launch!, signal),
    );
    useEffect(() => {
        if (!answer.error || state.launch === null) return;
        say(`Launch ${state.launch} cannot be shown: ${answer.error}`);
        firstLaunch(source, run).then(
            (first) => first !== null && first !== state.launch && set({ launch: first, ...NOTHING_SELECTED }),
            () => undefined,
        );
    }, [answer.error]);
    const current = answer.data && answer.data.launch === state.launch ? answer.data : null;
    useEffect(() => {
        if (!current) return;
        const { change, problems } = repair(state, run, current);
        problems.forEach(say);
        if (change) set(change);
    }, [current]);
    return { answer, current };
}

// The first page of what the filter lets through, which several parts want, is on its way with the launch.
function useHead(source: Source, { launch, filter }: State): Model["head"] {
    const head = useAsk(launch, launch === null ? null : `head|${JSON.stringify(filter)}`, (signal) =>
            source.records(launch!, filter, 0, PAGE, signal),
        ),
        page = head.waiting ? null : head.data;
    return { total: page ? page.total : null, page, error: head.error, retry: head.retry };
}

// Findings are asked for when something shows them: they take a look at every access.
function useNotedFindings(source: Source, state: State, current: LaunchInfo | null) {
    const noted = state.record !== null || state.view === "source" || state.second === "source";
    return useAsk(state.wholeRun ? "run" : state.launch, current && noted ? "findings" : null, (signal) =>
        source.findings(state.wholeRun ? null : current!.launch, signal),
    ).data;
}

// The model of the launch that is shown; null: it is on its way.
function useModelOf(source: Source, run: RunInfo, [state, set]: [State, SetState], say: Say) {
    const hover = useMemo(() => new Store<Hover | null>(null), []),
        sites = useMemo(() => siteIndex(run), [run]);
    const launch = useLaunch(source, run, [state, set], say),
        { current } = launch;
    useEffect(() => {
        if (current) hover.set(null);
    }, [current]);
    const head = useHead(source, state),
        findings = useNotedFindings(source, state, current);
    const indices = [...(state.record === null ? [] : [state.record]), ...state.pins.flatMap((pin) => pin.index ?? [])];
    const records = useRecordsOf(source, current ? current.launch : null, indices, (index) => {
        say(`Record ${index} does not exist in launch ${current?.launch}; the selection was cleared.`);
        set({
            pins: state.pins.filter((pin) => pin.index !== index),
            ...(state.record === index ? { record: null, lane: null } : {}),
        });
    });
    const model = useMemo<Model | null>(() => {
        if (!current) return null;
        return {
            source,
            run,
            sites,
            launch: current,
            state,
            set,
            say,
            hover,
            openLaunch: (id, change) => set({ launch: id, ...NOTHING_SELECTED, ...change }),
            selected: state.record === null ? null : (records.get(state.record) ?? null),
            pinned: state.pins.map((pin) => (pin.index === null ? null : (records.get(pin.index) ?? null))),
            head,
            findings,
        };
    }, [current, state, records, findings, head.page, head.error, source, run]);
    return { model, launch: launch.answer };
}

function RunPage({ source, run }: { source: Source; run: RunInfo }) {
    const [notices, setNotices] = useState<string[]>([]);
    const say = (notice: string) => setNotices((old) => (old.includes(notice) ? old : [...old, notice].slice(-4)));
    const isLink = useMemo(() => location.hash.length > 1, []); // before the page writes its own
    const [state, set] = useUrlState(say, source.runFindings !== undefined);
    const [overlay, setOverlay] = useState<"help" | "tour" | null>(() => (seenTour() || isLink ? null : "tour"));
    const [changed, setChanged] = useState(false);
    useEffect(() => source.onChange?.(() => setChanged(true)), [source]);
    const { model, launch } = useModelOf(source, run, [state, set], say);
    useEffect(() => {
        if (model) document.title = titleOf(run, model.launch, state.view);
    }, [run, model?.launch, state.view]);
    const last = useRef<Model | null>(null);
    if (model) last.current = model;
    const shown = model ?? last.current; // while another launch is on its way, the last one stays
    useKeys(shown, overlay, setOverlay);

    if (!shown) {
        return launch.error ? (
            <Whole title="The launch cannot be read" text={launch.error} action={launch.retry} />
        ) : (
            <div class="whole">
                <p class="soft working">Opening a launch</p>
            </div>
        );
    }
    return (
        <ModelContext.Provider value={shown}>
            <div class={`view ${model ? "" : "stale"}`} inert={overlay !== null}>
                <TopBar onHelp={() => setOverlay("help")} />
                <TimelineStrip />
                {changed && <ChangedRun />}
                {notices.length > 0 && <Notices notices={notices} onDismiss={() => setNotices([])} />}
                <div class="body">
                    <aside class="left" aria-label="Filters and groups">
                        <FilterPanel />
                        <GroupPanel />
                    </aside>
                    <Panes />
                    <aside class="right" aria-label="Selection">
                        <Inspector />
                    </aside>
                </div>
                <StatusLine />
            </div>
            {overlay === "help" && <Help onClose={() => setOverlay(null)} onTour={() => setOverlay("tour")} />}
            {overlay === "tour" && <Tour onClose={() => (rememberTour(), setOverlay(null))} />}
        </ModelContext.Provider>
    );
}

// The run is no longer the one that the page was opened on.
function ChangedRun() {
    return (
        <div class="notices changed" role="alert">
            <span>The run has changed since this page was opened; some of this may be out of date.</span>
            <button class="again" onClick={() => location.reload()}>
                Reload the run
            </button>
        </div>
    );
}

function Notices({ notices, onDismiss }: { notices: string[]; onDismiss: () => void }) {
    return (
        <div class="notices" role="alert">
            <ul>
                {notices.map((notice) => (
                    <li>{notice}</li>
                ))}
            </ul>
            <button onClick={onDismiss} aria-label="Dismiss the notices">
                ×
            </button>
        </div>
    );
}

// A page opened from a file may have no storage.
function seenTour(): boolean {
    try {
        return localStorage.getItem("ctascope-tour") === "seen";
    } catch {
        return true;
    }
}
function rememberTour(): void {
    try {
        localStorage.setItem("ctascope-tour", "seen");
    } catch {
        // then it comes again
    }
}
