// A plot as a PNG that stands for itself elsewhere: its title above it, then the legend, the plot as it is on the
// screen, with its zoom, and the caption below.
import { saveAs } from "./save";

export interface Entry {
    name: string;
    colours: string[]; // a series has one, a scale several
}

export interface Picture {
    title: string;
    caption: string;
    legend: Entry[];
    plot: HTMLCanvasElement;
    place: Element; // whose font and colours it has
}

const ORDINARY_SIZE = 15; // px of the report's letters (style.css), for which these are meant:
const MARGIN = 16,
    SWATCH = 12,
    APART = 14;

// Lines of words that are no wider than `width`.
function wrapped(context: CanvasRenderingContext2D, text: string, width: number): string[] {
    const lines: string[] = [];
    for (const word of text.split(/\s+/)) {
        const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
        if (lines.length && context.measureText(longer).width <= width) lines[lines.length - 1] = longer;
        else lines.push(word);
    }
    return lines;
}

interface Placed extends Entry {
    x: number;
    line: number;
}

// The width of an entry's colours and of the space behind them.
const swatches = ({ colours }: Entry, unit: number) => (SWATCH * colours.length + SWATCH / 2) * unit;

// The legend's entries from left to right, in as many lines as they need.
function placed(context: CanvasRenderingContext2D, legend: Entry[], width: number, unit: number): Placed[] {
    let x = 0,
        line = 0;
    return legend.map((entry) => {
        const wide = swatches(entry, unit) + context.measureText(entry.name).width + APART * unit;
        if (x && x + wide > width) {
            x = 0;
            line++;
        }
        const at = { ...entry, x, line };
        x += wide;
        return at;
    });
}

export function pictureOf({ title, caption, legend, plot, place }: Picture): HTMLCanvasElement {
    const made = document.createElement("canvas"),
        context = made.getContext("2d")!,
        style = getComputedStyle(place),
        size = parseFloat(style.fontSize),
        unit = size / ORDINARY_SIZE,
        margin = MARGIN * unit,
        swatch = SWATCH * unit;
    const width = plot.clientWidth,
        ratio = plot.width / width,
        line = 1.5 * size;
    const plain = `${0.85 * size}px ${style.fontFamily}`,
        bold = `600 ${1.1 * size}px ${style.fontFamily}`;
    context.font = bold;
    const head = wrapped(context, title, width);
    context.font = plain;
    const text = wrapped(context, caption, width),
        entries = placed(context, legend, width, unit),
        lines = entries.length ? entries[entries.length - 1].line + 1 : 0;
    const plotTop = margin + (head.length + lines) * line + margin / 2,
        textTop = plotTop + plot.clientHeight + margin / 2;
    made.width = Math.ceil((width + 2 * margin) * ratio);
    made.height = Math.ceil((textTop + text.length * line + margin) * ratio);
    context.scale(ratio, ratio);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, made.width, made.height);
    context.textBaseline = "middle";
    const write = (words: string, x: number, y: number) => context.fillText(words, margin + x, y + line / 2);
    context.fillStyle = style.color;
    context.font = bold;
    head.forEach((words, i) => write(words, 0, margin + i * line));
    context.font = plain;
    for (const entry of entries) {
        const y = margin + (head.length + entry.line) * line;
        entry.colours.forEach((colour, i) => {
            context.fillStyle = colour;
            context.fillRect(margin + entry.x + i * swatch, y + (line - swatch) / 2, swatch, swatch);
        });
        context.fillStyle = style.color;
        write(entry.name, entry.x + swatches(entry, unit), y);
    }
    text.forEach((words, i) => write(words, 0, textTop + i * line));
    context.drawImage(plot, margin, plotTop, width, plot.clientHeight);
    return made;
}

export function savePicture(name: string, picture: Picture): void {
    pictureOf(picture).toBlob((blob) => blob && saveAs(`${name}.png`, blob), "image/png");
}
