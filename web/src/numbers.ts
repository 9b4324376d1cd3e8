// Numbers of seven bits a byte, the lowest first (LEB128), one after the other.
export function numbersOf(bytes: Uint8Array): () => number {
    let at = 0;
    return () => {
        let value = 0,
            scale = 1;
        for (;;) {
            const byte = bytes[at++];
            value += (byte & 0x7f) * scale;
            if (byte < 0x80) return value;
            scale *= 128;
        }
    };
}
