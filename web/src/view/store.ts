// A value that parts of the page watch: the state, what the pointer is at, how much is on its way.
import { useEffect, useState } from "preact/hooks";

export class Store<T> {
    private watchers = new Set<() => void>();
    constructor(private value: T) {}
    get(): T {
        return this.value;
    }
    set(value: T): void {
        if (Object.is(value, this.value)) return;
        this.value = value;
        for (const watcher of [...this.watchers]) watcher();
    }
    watch(watcher: () => void): () => void {
        this.watchers.add(watcher);
        return () => this.watchers.delete(watcher);
    }
}

export function useStore<T>(store: Store<T>): T {
    const [value, setValue] = useState(store.get());
    useEffect(() => {
        setValue(() => store.get());
        return store.watch(() => setValue(() => store.get()));
    }, [store]);
    return value;
}
