// The length of a matrix' rows, from how requests lie in it: lanes a constant distance apart go down a
// column; requests of a site in one CTA lie a row apart.
import type { Records } from "./source";
import { lanesOf } from "./requests";

const LEAST_ROW = 64, // bytes; what lies closer are parts of a struct
    SHARE = 0.6; // of the votes, for a pitch to be believed

// Lanes that go down a column vote for the distance between them.
function voteColumn(addresses: number[], vote: (gap: number, weight: number) => void): boolean {
    const stride = addresses.length > 3 ? addresses[1] - addresses[0] : 0;
    const constant = stride !== 0 && addresses.every((a, i) => a === addresses[0] + i * stride);
    if (constant && Math.abs(stride) >= LEAST_ROW) vote(Math.abs(stride), addresses.length);
    return constant && Math.abs(stride) >= LEAST_ROW;
}

// Bytes from a row to the next, or null: the requests do not say. Of records of one allocation.
export function inferPitch(records: Records, first: number, last: number, element: number): number | null {
    const votes = new Map<number, number>(),
        starts = new Map<string, Map<number, number>>(); // by site and CTA: where requests begin, and end
    let all = 0;
    const vote = (gap: number, weight: number) => {
        all += weight;
        if (gap % element === 0 && gap * 2 <= last - first + 1) votes.set(gap, (votes.get(gap) ?? 0) + weight);
    };
    for (let i = 0; i < records.index.length; i++) {
        const addresses = lanesOf(records.mask[i]).map((lane) => records.addresses[32 * i + lane]);
        if (addresses.some((a) => a < first || a > last) || voteColumn(addresses, vote)) continue;
        const key = `${records.site[i]}|${records.cta[i]}`,
            ends = starts.get(key) ?? new Map<number, number>(),
            low = Math.min(...addresses);
        ends.set(low, Math.max(ends.get(low) ?? 0, Math.max(...addresses) - low + element));
        starts.set(key, ends);
    }
    for (const ends of starts.values()) {
        const rows = [...ends].sort((a, b) => a[0] - b[0]);
        for (let i = 1; i < rows.length; i++) {
            const gap = rows[i][0] - rows[i - 1][0];
            if (gap > rows[i - 1][1] && gap >= LEAST_ROW) vote(gap, 1);
        }
    }
    const best = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
    return best && best[1] >= SHARE * all ? best[0] : null;
}
