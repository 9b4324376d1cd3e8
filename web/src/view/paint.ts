// Reads and writes as colours: one hue each, stronger the more there were, on a logarithmic scale.
import { kindColour, readColour, writeColour } from "./model";
import type { Theme } from "../theme";

export type Rgb = [number, number, number];

export function rgbOf(colour: string): Rgb {
    const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour);
    if (parts) return [Number(parts[1]), Number(parts[2]), Number(parts[3])];
    const hex = colour.replace("#", "");
    const full = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16)) as Rgb;
}
export const mix = (a: Rgb, b: Rgb, share: number): Rgb => a.map((v, i) => Math.round(v + (b[i] - v) * share)) as Rgb;
export const cssOf = (rgb: Rgb) => `rgb(${rgb[0]}, ${rgb[1]}, ${rgb[2]})`;

export function strength(value: number, most: number): number {
    if (value <= 0) return 0;
    return most <= 1 ? 1 : 0.28 + 0.72 * Math.min(1, Math.log(1 + value) / Math.log(1 + most));
}

// Of an image's pixels as numbers: how strong so many are. Most cells have one of a few counts.
export function shadesOf(paper: Rgb, ink: Rgb, most: number): (value: number) => number {
    const known = new Map<number, number>(),
        pixel = new Uint8ClampedArray(4),
        whole = new Uint32Array(pixel.buffer);
    return (value) => {
        let shade = known.get(value);
        if (shade === undefined) {
            pixel.set([...mix(paper, ink, strength(value, most)), 255]);
            known.set(value, (shade = whole[0]!));
        }
        return shade;
    };
}

// Black or white, whichever is read better on the colour.
export function inkOn(colour: string): string {
    const [r, g, b] = rgbOf(colour).map((v) =>
        v / 255 <= 0.04 ? v / 255 / 12.9 : ((v / 255 + 0.055) / 1.055) ** 2.4,
    ) as Rgb;
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.22 ? "#111111" : "#ffffff";
}

export interface Inks {
    read: Rgb;
    write: Rgb;
    both: Rgb; // read and written, as by atomics
    paper: Rgb;
}
export const inksOf = (theme: Theme): Inks => ({
    read: rgbOf(readColour(theme)),
    write: rgbOf(writeColour(theme)),
    both: rgbOf(kindColour(theme, "atomic")),
    paper: rgbOf(theme.background),
});

// A third colour where both are: halves of two would look like a pattern.
export function blend(inks: Inks, reads: number, writes: number, mostReads: number, mostWrites: number): Rgb {
    const r = strength(reads, mostReads),
        w = strength(writes, mostWrites);
    if (!r && !w) return inks.paper;
    const ink = !w ? inks.read : !r ? inks.write : inks.both;
    return mix(inks.paper, ink, Math.max(r, w));
}

export const most = (values: ArrayLike<number>): number => {
    let highest = 0;
    for (let i = 0; i < values.length; i++) if (values[i] > highest) highest = values[i]!;
    return highest;
};
