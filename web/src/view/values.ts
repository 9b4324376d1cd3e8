// Values as the source's type says: the bytes that a lane read or wrote, little-endian. A request
// wider than its element (a vector load of four floats) holds several elements; bytes of a type that
// is not known are shown as hex.

type Read = (view: DataView, at: number) => string;

const real = (value: number, digits: number) => String(Number(value.toPrecision(digits)));

function half(bits: number): number {
    const sign = bits & 0x8000 ? -1 : 1,
        exponent = (bits >> 10) & 31,
        fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

const READERS: Record<string, [number, Read]> = {
    float: [4, (v, at) => real(v.getFloat32(at, true), 7)],
    double: [8, (v, at) => real(v.getFloat64(at, true), 15)],
    half: [2, (v, at) => real(half(v.getUint16(at, true)), 4)],
    bfloat16: [
        2,
        (v, at) => {
            const wide = new DataView(new ArrayBuffer(4));
            wide.setUint16(2, v.getUint16(at, true), true);
            return real(wide.getFloat32(0, true), 3);
        },
    ],
    bool: [1, (v, at) => (v.getUint8(at) ? "true" : "false")],
    int8: [1, (v, at) => String(v.getInt8(at))],
    uint8: [1, (v, at) => String(v.getUint8(at))],
    int16: [2, (v, at) => String(v.getInt16(at, true))],
    uint16: [2, (v, at) => String(v.getUint16(at, true))],
    int32: [4, (v, at) => String(v.getInt32(at, true))],
    uint32: [4, (v, at) => String(v.getUint32(at, true))],
    int64: [8, (v, at) => String(v.getBigInt64(at, true))],
    uint64: [8, (v, at) => String(v.getBigUint64(at, true))],
    pointer: [8, (v, at) => `0x${v.getBigUint64(at, true).toString(16)}`],
};

const NAMES: Record<string, string> = {
    __half: "half",
    _Float16: "half",
    __nv_bfloat16: "bfloat16",
    __bf16: "bfloat16",
    _Bool: "bool",
    char: "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    int8_t: "int8",
    uint8_t: "uint8",
    short: "int16",
    "unsigned short": "uint16",
    int16_t: "int16",
    uint16_t: "uint16",
    int: "int32",
    unsigned: "uint32",
    "unsigned int": "uint32",
    int32_t: "int32",
    uint32_t: "uint32",
    long: "int64",
    "unsigned long": "uint64",
    "long int": "int64",
    "long unsigned int": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "long long int": "int64",
    "long long unsigned int": "uint64",
    int64_t: "int64",
    uint64_t: "uint64",
    size_t: "uint64",
};
const VECTORS: Record<string, string> = {
    float: "float",
    double: "double",
    half: "half",
    int: "int32",
    uint: "uint32",
    char: "int8",
    uchar: "uint8",
    short: "int16",
    ushort: "uint16",
    long: "int64",
    ulong: "uint64",
    longlong: "int64",
    ulonglong: "uint64",
};

// What reads one element of the type, or null.
function readerOf(type: string): [number, Read] | null {
    const plain = type.replace(/\b(const|volatile|__restrict__|restrict|struct|std::)\s*/g, "").trim();
    if (plain.endsWith("*")) return READERS["pointer"];
    const name = NAMES[plain] ?? plain;
    if (READERS[name]) return READERS[name];
    const pair = /^(__half|__nv_bfloat16)2$/.exec(plain);
    if (pair) return READERS[NAMES[pair[1]]];
    const vector = /^([a-z]+)([1-4])$/.exec(plain);
    const element = vector && VECTORS[vector[1]];
    return element ? READERS[element] : null;
}

export function hexText(bytes: Uint8Array): string {
    return `0x${[...bytes]
        .reverse()
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join("")}`;
}

export function valueText(bytes: Uint8Array, type: string | null): string {
    const reader = type ? readerOf(type) : null;
    if (!reader || !bytes.length || bytes.length % reader[0]) return hexText(bytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const parts: string[] = [];
    for (let at = 0; at < bytes.length; at += reader[0]) parts.push(reader[1](view, at));
    return parts.length === 1 ? parts[0] : `(${parts.join(", ")})`;
}
