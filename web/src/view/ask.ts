// Questions to the source as values of a component. A question that is replaced before its answer
// came is given up; what it replaced stays on the screen until then, unless the scope (the launch)
// changed. What takes longer than a tenth of a second counts as busy, which the page shows.
import { useEffect, useRef, useState } from "preact/hooks";
import { Store } from "./store";

export const busy = new Store(0); // questions that have taken longer than BUSY_AFTER_MS
const BUSY_AFTER_MS = 100;

export interface Answer<T> {
    data: T | null;
    error: string | null;
    waiting: boolean; // `data` is none, or that of an earlier question
    retry: () => void;
}

// The body is aria-busy from a question to its answer, however short that is.
let open = 0;
function openQuestions(change: number): void {
    open += change;
    document.body.setAttribute("aria-busy", String(open > 0));
}

export async function counted<T>(promise: Promise<T>): Promise<T> {
    let late = false;
    openQuestions(1);
    const timer = setTimeout(() => {
        late = true;
        busy.set(busy.get() + 1);
    }, BUSY_AFTER_MS);
    try {
        return await promise;
    } finally {
        clearTimeout(timer);
        if (late) busy.set(busy.get() - 1);
        openQuestions(-1);
    }
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// `key` null: nothing to ask. Otherwise it names the question, `scope` what its answer is about.
export function useAsk<T>(
    scope: string | number | null,
    key: string | null,
    ask: (signal: AbortSignal) => Promise<T>,
): Answer<T> {
    const [answer, setAnswer] = useState<{ scope: unknown; key: string | null; data: T | null; error: string | null }>({
        scope: null,
        key: null,
        data: null,
        error: null,
    });
    const [round, setRound] = useState(0);
    const latest = useRef(ask);
    latest.current = ask;
    const name = key === null ? null : `${scope}|${key}`;
    useEffect(() => {
        if (name === null) return;
        const control = new AbortController();
        counted(latest.current(control.signal)).then(
            (data) => control.signal.aborted || setAnswer({ scope, key: name, data, error: null }),
            (error) => control.signal.aborted || setAnswer({ scope, key: name, data: null, error: messageOf(error) }),
        );
        return () => control.abort();
    }, [name, round]);
    const usable = name !== null && answer.scope === scope;
    return {
        data: usable ? answer.data : null,
        error: usable && answer.key === name ? answer.error : null,
        waiting: name !== null && answer.key !== name,
        retry: () => setRound((n) => n + 1),
    };
}
