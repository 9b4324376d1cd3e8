// Colours come from the style sheet's variables, so that light and dark are said in one place.
import { useEffect, useState } from "preact/hooks";

export interface Theme {
    text: string;
    grid: string;
    unit: number; // 1 where letters have their ordinary size, more on very large screens
    font: string;
    plainFont: string; // of a canvas that is scaled by `unit`
    background: string;
    palette: string[]; // of series, told apart also by those who do not see red and green
    heat: string[]; // from least to most
    emphasis: string;
    alarm: string;
}

const ORDINARY_SIZE = 15; // px of the report's letters (style.css)
const wide = [matchMedia("(min-width: 2300px)"), matchMedia("(min-width: 3200px)")]; // as style.css

function read(): Theme {
    const style = getComputedStyle(document.documentElement);
    const value = (name: string) => style.getPropertyValue(name).trim();
    const unit = (parseFloat(value("--size")) || ORDINARY_SIZE) / ORDINARY_SIZE;
    return {
        text: value("--text-soft"),
        grid: value("--line"),
        unit,
        font: `${12 * unit}px ${value("--font")}`,
        plainFont: `12px ${value("--font")}`,
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
        for (const query of [scheme, ...wide]) query.addEventListener("change", update);
        return () => [scheme, ...wide].forEach((query) => query.removeEventListener("change", update));
    }, []);
    return theme;
}
