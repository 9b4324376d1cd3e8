// What whoever sees badly or uses no mouse needs of a page: letters that stand out from what is behind them, a name for
// everything that can be operated, roles that fit. Returns what is not so, in words.

// WCAG 2.2, 1.4.3: 4.5 to 1, and 3 to 1 for large letters. What cannot be operated now does not count.
export const faint = (page) =>
    page.evaluate(() => {
        const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const seen = new Map();
        const rgba = (colour) => {
            if (!seen.has(colour)) {
                brush.clearRect(0, 0, 1, 1);
                brush.fillStyle = colour;
                brush.fillRect(0, 0, 1, 1);
                seen.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
            }
            return seen.get(colour);
        };
        const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => (c * a + under[i] * (255 - a)) / 255);
        const behind = (element) => {
            const layers = [];
            for (let at = element; at; at = at.parentElement) {
                const style = getComputedStyle(at);
                if (style.backgroundImage !== "none" && at !== document.body) return null; // a picture: not judged
                layers.push(rgba(style.backgroundColor));
            }
            return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
        };
        const light = (colour) => {
            const [r, g, b] = colour.map((c) =>
                c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
            );
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const found = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement,
                text = walker.currentNode.textContent.trim();
            if (!text || !element.checkVisibility() || element.closest("script, style, option, :disabled, .stale"))
                continue;
            const style = getComputedStyle(element),
                back = behind(element);
            if (!back) continue;
            const [a, b] = [light(over(rgba(style.color), back)), light(back)].sort((x, y) => y - x),
                size = parseFloat(style.fontSize),
                isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700),
                ratio = (a + 0.05) / (b + 0.05);
            if (ratio < (isLarge ? 3 : 4.5))
                found.add(`${ratio.toFixed(2)}: '${text.slice(0, 40)}' (${element.tagName} ${element.className})`);
        }
        return [...found];
    });

export const unnamed = (page) =>
    page.evaluate(() => {
        const found = [];
        const nameOf = (it) =>
            it.getAttribute("aria-label") ||
            [...(it.labels ?? [])].map((label) => label.textContent).join("") ||
            (it.matches("input, select, canvas, svg") ? "" : it.textContent.trim());
        const told = (it) => `${it.tagName} ${it.getAttribute("class") ?? ""} ${it.getAttribute("role") ?? ""}`;
        const operated =
            "button, input, select, a[href], [tabindex='0'], [role=img], [role=application], [role=radiogroup]";
        for (const it of document.querySelectorAll(operated))
            if (it.checkVisibility() && !nameOf(it)) found.push(`no name: ${told(it)}`);
        for (const it of document.querySelectorAll("[tabindex]")) {
            if (it.tabIndex > 0) found.push(`an order of its own: ${told(it)}`);
            if (it.tabIndex === 0 && it.getAttribute("role") === "img")
                found.push(`a picture with the focus: ${told(it)}`);
        }
        for (const [role, parent] of Object.entries({ tab: "tablist", option: "listbox", radio: "radiogroup" }))
            for (const it of document.querySelectorAll(`[role=${role}]`))
                if (!it.closest(`[role=${parent}]`)) found.push(`${role} outside of a ${parent}: ${told(it)}`);
        const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
        for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`id twice: ${id}`);
        if (!document.documentElement.lang) found.push("no language");
        if (!document.title) found.push("no title");
        return [...new Set(found)];
    });
