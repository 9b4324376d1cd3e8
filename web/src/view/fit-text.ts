// Text of a canvas that has to fit into a place.

// What follows a name and tells elements of it apart: "[1043] + 2 B", " + 128 B".
const PLACE = /(\[\d+\])?( \+ [\d,]+ B)?$/;

type Measure = Pick<CanvasRenderingContext2D, "measureText">;

// Text with an ellipsis where it does not fit: at its end, or, of a place in a variable, at the end of the name.
export function fitText(context: Measure, text: string, width: number): string {
    const fits = (shown: string) => context.measureText(shown).width <= width;
    if (fits(text)) return text;
    const place = PLACE.exec(text)![0],
        tail = place && fits(`…${place}`) ? place : "";
    let low = 0,
        high = text.length - tail.length;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (fits(`${text.slice(0, middle)}…${tail}`)) low = middle;
        else high = middle - 1;
    }
    return low || tail ? `${text.slice(0, low)}…${tail}` : "";
}
