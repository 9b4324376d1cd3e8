// The report's table of contents: a link for each card that the page has.
import { useEffect, useState } from "preact/hooks";

export function Contents() {
    const [titles, setTitles] = useState<string[]>([]);
    useEffect(() => {
        setTitles([...document.querySelectorAll(".card > h2")].map((title) => title.textContent ?? ""));
    }, []);
    const show = (i: number) => {
        const title = document.querySelectorAll<HTMLElement>(".card > h2")[i];
        title.tabIndex = -1; // whoever came by keyboard goes on from there
        title.focus({ preventScroll: true });
        title.scrollIntoView();
    };
    if (titles.length < 2) return null;
    return (
        <nav class="contents" aria-label="Contents">
            <ul>
                {titles.map((title, i) => (
                    <li>
                        <button class="link" onClick={() => show(i)}>
                            {title}
                        </button>
                    </li>
                ))}
            </ul>
        </nav>
    );
}
