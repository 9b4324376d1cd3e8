#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include "sad.h"
int main() {
    int w = 48, h = 32, bad = 0;
    std::vector<unsigned short> a(w * h), b(w * h), s4(w * h / 16 * MAX_POS), s8(w * h / 64 * MAX_POS);
    for (int i = 0; i < w * h; i++) { a[i] = (i * 31) % 251; b[i] = (i * 17 + 5) % 253; }
    image_i16 ref = { w, h, a.data() }, cur = { w, h, b.data() };
    sad_on_gpu(&ref, &cur, s4.data(), s8.data());
    auto at = [&](int x, int y) { return (int)a[std::min(std::max(y, 0), h - 1) * w + std::min(std::max(x, 0), w - 1)]; };
    auto block = [&](int X, int Y, int n, int pos) {
        int s = 0;
        for (int y = 0; y < n; y++) for (int x = 0; x < n; x++)
            s += abs(at(X + x + pos % SIDE - SEARCH, Y + y + pos / SIDE - SEARCH) - b[(Y + y) * w + X + x]);
        return s; };
    for (int y = 0; y < h / 4; y++) for (int x = 0; x < w / 4; x++) for (int p = 0; p < MAX_POS; p++)
        bad += s4[(y * (w / 4) + x) * MAX_POS + p] != block(4 * x, 4 * y, 4, p);
    for (int y = 0; y < h / 8; y++) for (int x = 0; x < w / 8; x++) for (int p = 0; p < MAX_POS; p++)
        bad += s8[(y * (w / 8) + x) * MAX_POS + p] != block(8 * x, 8 * y, 8, p);
    printf("%d differences\n", bad);
    return bad != 0;
}
