// CUDA C++ as coloured parts, line by line: comments, strings, numbers, words of the language and of
// CUDA. Enough to read by, not a parser.
export type Part = ["" | "cm" | "st" | "nu" | "kw" | "cu" | "pp", string];

const KEYWORDS = new Set(
    (
        "auto bool break case char class const constexpr continue default delete do double else enum " +
        "extern false float for goto if inline int long " +
        "namespace new nullptr operator private public return short signed sizeof static struct switch " +
        "template this true typedef typename union unsigned using void volatile while"
    ).split(" "),
);
const CUDA = new Set(
    (
        "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ " +
        "__syncthreads __syncwarp threadIdx blockIdx blockDim gridDim warpSize " +
        "atomicAdd atomicCAS atomicMax atomicMin atomicExch dim3"
    ).split(" "),
);
const TOKEN = /(\/\/.*$)|(\/\*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\b\d[\w.']*)|([A-Za-z_]\w*)|(^\s*#\s*\w+)/g;

export function codeOf(text: string): Part[][] {
    let comment = false; // inside /* */
    return text
        .replace(/\n$/, "")
        .split("\n")
        .map((raw) => {
            const line = raw.replace(/\r$/, "").replace(/\t/g, "    "),
                parts: Part[] = [];
            let at = 0;
            const put = (kind: Part[0], to: number) => {
                if (to > at) parts.push([kind, line.slice(at, to)]);
                at = Math.max(at, to);
            };
            const rest = () => {
                const end = line.indexOf("*/", at);
                comment = end < 0;
                put("cm", end < 0 ? line.length : end + 2);
            };
            if (comment) rest();
            while (at < line.length) {
                TOKEN.lastIndex = at;
                const found = TOKEN.exec(line);
                if (!found) break;
                put("", found.index);
                if (found[2]) {
                    rest();
                    continue;
                }
                const word = found[5];
                put(
                    found[1]
                        ? "cm"
                        : found[3]
                          ? "st"
                          : found[4]
                            ? "nu"
                            : found[6]
                              ? "pp"
                              : word && KEYWORDS.has(word)
                                ? "kw"
                                : word && CUDA.has(word)
                                  ? "cu"
                                  : "",
                    TOKEN.lastIndex,
                );
            }
            put("", line.length);
            return parts;
        });
}
