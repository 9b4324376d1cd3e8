// Colours come from the style sheet's variables, so that light and dark are said in one place.
import { useEffect, useState } from "preact/hooks";

export interface Theme {
    text: string;
    grid: string;
    font: string;
    background: string;
    palette: string[]; // of series, told apart also by those who do not see red and green
    heat: string[]; // from least to most
    emphasis: string;
    alarm: string;
}

function read(): Theme {
    const style = getComputedStyle(document.documentElement);
    const value = (name: string) => style.getPropertyValue(name).trim();
    return {
        text: value("--text-soft"),
        grid: value("--line"),
        font: `12px ${value("--font")}`,
        background: value("--plot"),
        palette: value("--palette").split(/\s+/),
        heat: value("--heat").split(/\s+/),
        emphasis: value("--emphasis"),
        alarm: value("--alarm"),
    };
}

const scheme = matchMedia("(prefers-color-scheme: dark)");

export function useTheme(): Theme {
    const [theme, setTheme] = useState(read);
    useEffect(() => {
        const update = () => setTheme(read());
        scheme.addEventListener("change", update);
        return () => scheme.removeEventListener("change", update);
    }, []);
    return theme;
}
