// Answers in binary: numbers, then columns (docs/view-protocol.md has the layout).
export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export interface Columns {
    numbers: number[];
    columns: Column[];
}

const MAGIC = "CTSVIEW1";

export function decodeColumns(bytes: ArrayBuffer): Columns {
    const view = new DataView(bytes);
    const bad = () => new Error("the answer is not what this page understands");
    if (bytes.byteLength < 16) throw bad();
    for (let i = 0; i < 8; i++) if (view.getUint8(i) !== MAGIC.charCodeAt(i)) throw bad();
    const numberCount = view.getUint32(8, true),
        columnCount = view.getUint32(12, true);
    const table = 16 + 8 * numberCount;
    let at = table + 16 * columnCount;
    if (at > bytes.byteLength) throw bad();
    const numbers: number[] = [],
        columns: Column[] = [];
    for (let i = 0; i < numberCount; i++) numbers.push(view.getFloat64(16 + 8 * i, true));
    for (let i = 0; i < columnCount; i++) {
        const type = view.getUint32(table + 16 * i, true),
            count = Number(view.getBigUint64(table + 16 * i + 8, true));
        const size = [0, 1, 2, 4, 8][type];
        if (!size || at + size * count > bytes.byteLength) throw bad();
        columns.push(
            type === 1
                ? new Uint8Array(bytes, at, count)
                : type === 2
                  ? new Uint16Array(bytes, at, count)
                  : type === 3
                    ? new Uint32Array(bytes, at, count)
                    : new Float64Array(bytes, at, count),
        );
        at += Math.ceil((size * count) / 8) * 8;
    }
    return { numbers, columns };
}
