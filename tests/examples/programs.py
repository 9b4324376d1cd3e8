"""What each example does to global memory, at a small size: arguments and a function that tells the
model. `accesses` names what may be compared besides the unique volumes and the transfers: where the
compiler decides how often a value is loaded again, the counts of accesses are not."""

from model import Model, Random


def blocks_of(n, size):
    return (n + size - 1) // size


def vectoradd(n):
    m = Model()
    a, b, c = m.array(4), m.array(4), m.array(4)
    m.host_writes(a, n)
    m.host_writes(b, n)
    m.begin()
    for i in range(n):
        m.load(i // 256, a, i)
        m.load(i // 256, b, i)
        m.store(i // 256, c, i)
    m.end()
    return m


def reduction(n):
    m = Model()
    for block in (128, 128, 256, 256):
        source, target = m.array(8), m.array(8)
        m.host_writes(source, n)
        left = n
        while left > 1:
            blocks = blocks_of(left, 2 * block)
            m.begin()
            for i in range(left):
                m.load(i // (2 * block), source, i)
            for b in range(blocks):
                m.store(b, target, b)
            m.end()
            source, target, left = target, source, blocks
    return m


def stencil2d(n, steps, element_bytes=4):
    m = Model()
    source, target = m.array(element_bytes), m.array(element_bytes)
    m.host_writes(source, n * n)
    for _ in range(steps):
        m.begin()
        for y in range(n):
            for x in range(n):
                block = x // 32 + y // 8 * blocks_of(n, 32)
                for nx, ny in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                    if 0 <= nx < n and 0 <= ny < n:
                        m.load(block, source, ny * n + nx)
                m.store(block, target, y * n + x)
        m.end()
        source, target = target, source
    return m


def halo(n, steps):
    return stencil2d(n, steps, 32)


def stencil3d(n, planes, steps):
    m = Model()
    source, target = m.array(4), m.array(4)
    m.host_writes(source, n * n * planes)
    for _ in range(steps):
        m.begin()
        for z in range(planes):
            for y in range(n):
                for x in range(n):
                    block = x // 64 + y // 4 * blocks_of(n, 64)
                    for dx, dy, dz in ((0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0),
                                       (0, 0, -1), (0, 0, 1)):
                        nx, ny, nz = x + dx, y + dy, z + dz
                        if 0 <= nx < n and 0 <= ny < n and 0 <= nz < planes:
                            m.load(block, source, (nz * n + ny) * n + nx)
                    m.store(block, target, (z * n + y) * n + x)
        m.end()
        source, target = target, source
    return m


def hotspot2d(n, steps, height):
    m = Model()
    power, source, target = m.array(4), m.array(4), m.array(4)
    m.host_writes(power, n * n)
    m.host_writes(source, n * n)
    for done in range(0, steps, height):
        now = min(height, steps - done)
        inner = 16 - 2 * now
        blocks = blocks_of(n, inner)
        m.begin()
        for by in range(blocks):
            for bx in range(blocks):
                for ty in range(16):
                    for tx in range(16):
                        x, y = bx * inner + tx - now, by * inner + ty - now
                        if not (0 <= x < n and 0 <= y < n):
                            continue
                        block = by * blocks + bx
                        m.load(block, source, y * n + x)
                        m.load(block, power, y * n + x)
                        if now <= tx < 16 - now and now <= ty < 16 - now:
                            m.store(block, target, y * n + x)
        m.end()
        source, target = target, source
    return m


def hotspot3d(n, layers, steps):
    m = Model()
    power, source, target = m.array(4), m.array(4), m.array(4)
    m.host_writes(power, n * n * layers)
    m.host_writes(source, n * n * layers)
    for _ in range(steps):
        m.begin()
        for z in range(layers):
            for y in range(n):
                for x in range(n):
                    block = x // 64 + y // 4 * blocks_of(n, 64)
                    for nx, ny in ((x, y), (max(x - 1, 0), y), (min(x + 1, n - 1), y),
                                   (x, max(y - 1, 0)), (x, min(y + 1, n - 1))):
                        m.load(block, source, (z * n + ny) * n + nx)
                    m.load(block, power, (z * n + y) * n + x)
                    m.store(block, target, (z * n + y) * n + x)
        m.end()
        source, target = target, source
    return m


def gaussian(n):
    m = Model()
    a, b, factor = m.array(4), m.array(4), m.array(4)
    m.host_writes(a, n * n)
    m.host_writes(b, n)
    for k in range(n - 1):
        m.begin()
        for row in range(k + 1, n):
            block = (row - k - 1) // 256
            m.load(block, a, row * n + k)
            m.load(block, a, k * n + k)
            m.store(block, factor, row)
        m.end()
        m.begin()
        for row in range(k + 1, n):
            for column in range(k, n):
                block = (column - k) // 16 + (row - k - 1) // 16 * blocks_of(n, 16)
                m.load(block, factor, row)
                m.load(block, a, k * n + column)
                m.load(block, a, row * n + column)
                m.store(block, a, row * n + column)
                if column == k:
                    m.load(block, b, k)
                    m.load(block, b, row)
                    m.store(block, b, row)
        m.end()
    return m


def srad(n, iterations):
    m = Model()
    source, target, c, partial = m.array(4), m.array(4), m.array(4), m.array(8)
    m.host_writes(source, n * n)
    cells = [(y * n + x, x // 16 + y // 16 * blocks_of(n, 16),
              (y * n + x - (n if y > 0 else 0), y * n + x + (n if y < n - 1 else 0),
               y * n + x - (x > 0), y * n + x + (x < n - 1))) for y in range(n) for x in range(n)]
    for _ in range(iterations):
        m.begin()
        for i in range(n * n):
            m.load(i // 256, source, i)
        for block in range(blocks_of(n * n, 256)):
            m.store(block, partial, block)
        m.end()
        m.begin()
        for i, block, neighbours in cells:
            for j in (i, *neighbours):
                m.load(block, source, j)
            m.store(block, c, i)
        m.end()
        m.begin()
        for i, block, neighbours in cells:
            for j in (i, *neighbours):
                m.load(block, source, j)
            for j in (i, neighbours[1], neighbours[3]):
                m.load(block, c, j)
            m.store(block, target, i)
        m.end()
        source, target = target, source
    return m


def histogram(mib, blocks):
    m = Model()
    words = mib << 18
    partial, result = m.array(4), m.array(4)
    # The data are 4 bytes a word, read once by one block: counted without telling each byte.
    m.begin()
    m.totals["loaded_accesses"] += 4 * words
    m.totals["loaded_unique"] += 4 * words
    for block in range(blocks):
        for b in range(64):
            m.store(block, partial, block * 64 + b)
    m.end()
    m.begin()
    for b in range(64):
        for block in range(blocks):
            m.load(b, partial, block * 64 + b)
        m.store(b, result, b)
    m.end()
    return m


def nbody(n, steps):
    m = Model()
    position, velocity = m.array(16), m.array(16)
    m.host_writes(position, n)
    m.host_writes(velocity, n)
    for _ in range(steps): # the fourth component, a mass or nothing, is only read into the tiles
        m.begin()
        for block in range(blocks_of(n, 32)):
            for i in range(n):
                m.load(block, position, i)
        for i in range(n):
            m.load(i // 32, position, i, width=12)
            m.load(i // 32, velocity, i, width=12)
            m.store(i // 32, velocity, i, width=12)
        m.end()
        m.begin()
        for i in range(n):
            m.load(i // 32, position, i, width=12)
            m.load(i // 32, velocity, i, width=12)
            m.store(i // 32, position, i, width=12)
        m.end()
    return m


def pathfinder(columns, rows, height):
    m = Model()
    cost, source, target = m.array(4), m.array(4), m.array(4)
    m.host_writes(cost, columns * rows)
    m.host_writes(source, columns)
    blocks = blocks_of(columns, 256 - 2 * height)
    for row in range(1, rows, height):
        steps = min(height, rows - row)
        width = 256 - 2 * steps
        m.begin()
        for block in range(blocks):
            for t in range(256):
                column = block * width + t - steps
                if not 0 <= column < columns:
                    continue
                m.load(block, source, column)
                for step in range(steps):
                    if step < t < 255 - step:
                        m.load(block, cost, (row + step) * columns + column)
                if steps <= t < 256 - steps:
                    m.store(block, target, column)
        m.end()
        source, target = target, source
    return m


def bfs(n, degree):
    random = Random()
    edges = [random.next() % n for _ in range(n * degree)]
    m = Model()
    frontier, seen, marked, more = m.array(1), m.array(1), m.array(1), m.array(4)
    first, edge, distance = m.array(4), m.array(4), m.array(4)
    in_frontier, is_seen = {0}, {0}
    for array, count in ((frontier, n), (seen, n), (marked, n), (first, n + 1),
                         (edge, n * degree), (distance, n)):
        m.host_writes(array, count)
    while True:
        m.host_writes(more, 1)
        m.begin()
        fresh = set()
        for node in range(n):
            block = node // 512
            m.load(block, frontier, node)
            if node not in in_frontier:
                continue
            m.store(block, frontier, node)
            m.load(block, first, node)
            m.load(block, first, node + 1)
            for e in range(node * degree, (node + 1) * degree):
                neighbour = edges[e]
                m.load(block, edge, e)
                m.load(block, seen, neighbour)
                if neighbour not in is_seen:
                    m.load(block, distance, node)
                    m.store(block, distance, neighbour)
                    m.store(block, marked, neighbour)
                    fresh.add(neighbour)
        m.end()
        m.begin()
        for node in range(n):
            block = node // 512
            m.load(block, marked, node)
            if node in fresh:
                m.store(block, frontier, node)
                m.store(block, seen, node)
                m.store(block, marked, node)
                m.store(block, more, 0)
        m.end()
        is_seen |= fresh
        in_frontier = fresh
        if not fresh:
            return m


def matmul2(n):
    m = Model()
    a, b, d, ab, e = (m.array(4) for _ in range(5))
    for array in (a, b, d):
        m.host_writes(array, n * n)
    for left, right, out in ((a, b, ab), (ab, d, e)):
        m.begin()
        tiles = blocks_of(n, 16)
        for y in range(16 * tiles):
            for x in range(16 * tiles): # threads beyond the edge help to load the tiles
                block = x // 16 + y // 16 * tiles
                for start in range(0, n, 16):
                    ax, by = start + x % 16, start + y % 16
                    if y < n and ax < n:
                        m.load(block, left, y * n + ax)
                    if by < n and x < n:
                        m.load(block, right, by * n + x)
                if x < n and y < n:
                    m.store(block, out, y * n + x)
        m.end()
    return m


def fft(bits):
    m = Model()
    n = 1 << bits
    source, target = m.array(8), m.array(8)
    m.host_writes(source, n)
    width = 1
    while width < n:
        m.begin()
        for i in range(n // 2):
            k = i & (width - 1)
            j = (i - k) * 2 + k
            m.load(i // 256, source, i)
            m.load(i // 256, source, i + n // 2)
            m.store(i // 256, target, j)
            m.store(i // 256, target, j + width)
        m.end()
        source, target = target, source
        width *= 2
    return m


def transpose(n):
    m = Model()
    source, target = m.array(4), m.array(4)
    m.host_writes(source, n * n)
    tiles = blocks_of(n, 32)
    for way in range(3):
        m.host_writes(target, n * n)
        m.begin()
        for y in range(n):
            for x in range(n):
                block = x // 32 + y // 32 * tiles
                m.load(block, source, y * n + x)
                m.store(block, target, x * n + y)
        m.end()
    return m


def spmv(rows, entries):
    random = Random()
    start, column = [], []
    for _ in range(rows):
        start.append(len(column))
        for _ in range(random.next() % (2 * entries)):
            column.append(random.next() % rows)
            random.next()
        random.next()
    start.append(len(column))
    m = Model()
    starts, columns, values, x, y, z = (m.array(4) for _ in range(6))
    for array, count in ((starts, rows + 1), (columns, len(column)), (values, len(column)),
                         (x, rows)):
        m.host_writes(array, count)
    for source, target in ((x, y), (y, z)):
        m.begin()
        for row in range(rows):
            block = row // 128
            m.load(block, starts, row)
            m.load(block, starts, row + 1)
            for e in range(start[row], start[row + 1]):
                m.load(block, columns, e)
                m.load(block, values, e)
                m.load(block, source, column[e])
            m.store(block, target, row)
        m.end()
    return m


def structs(n):
    m = Model()
    particles, masses, out = m.array(24), m.array(8), m.array(8)
    m.host_writes(particles, n)
    m.host_writes(masses, n)
    for array in (particles, masses):
        m.begin()
        for i in range(n):
            m.load(i // 256, array, i, width=8)
            m.store(i // 256, out, i)
        m.end()
    return m


def pipeline(n, rounds):
    m = Model()
    buffers, sums = [m.array(4), m.array(4)], m.array(8)
    m.host_writes(sums, n)
    for r in range(rounds):
        m.begin()
        for i in range(n):
            m.store(i // 256, buffers[r % 2], i)
        m.end()
        m.begin()
        for i in range(n):
            m.load(i // 256, buffers[r % 2], n - 1 - i)
            m.load(i // 256, sums, i)
            m.store(i // 256, sums, i)
        m.end()
    return m


def mandelbrot(n, rounds):
    m = Model()
    z, escaped = m.array(8), m.array(4)
    m.host_writes(z, n * n)
    m.host_writes(escaped, n * n)
    # Which pixels escape when is arithmetic; the sets below are told by the program's own rule, in
    # double precision, and the example is run at a size where no pixel is near the border.
    state = {}
    for r in range(rounds):
        m.begin()
        for y in range(n):
            for x in range(n):
                i, block = y * n + x, x // 16 + y // 16 * blocks_of(n, 16)
                m.load(block, escaped, i)
                if state.get(i) == "out":
                    continue
                cx, cy = -2.0 + 3.0 * x / n, -1.5 + 3.0 * y / n
                m.load(block, z, i)
                px, py = state.get(i, (0.0, 0.0))
                for _ in range(16):
                    px, py = px * px - py * py + cx, 2.0 * px * py + cy
                    if px * px + py * py > 4.0:
                        m.store(block, escaped, i)
                        state[i] = "out"
                        break
                else:
                    m.store(block, z, i)
                    state[i] = (px, py)
        m.end()
    return m


def wave(n, launches):
    m = Model()
    points = m.array(16)
    for _ in range(launches):
        m.begin()
        for y in range(n):
            for x in range(n):
                m.store(x // 8 + y // 8 * blocks_of(n, 8), points, y * n + x)
        m.end()
    return m


# name: (arguments, function, whether the counts of accesses are the program's and not the compiler's)
PROGRAMS = {
    "vectoradd": ((1000,), vectoradd, True),
    "reduction": ((3000,), reduction, True),
    "stencil2d": ((80, 4), stencil2d, True),
    "halo": ((40, 3), halo, True),
    "stencil3d": ((72, 3, 3), stencil3d, True),
    "hotspot2d": ((50, 5, 2), hotspot2d, True),
    "hotspot3d": ((72, 3, 3), hotspot3d, True),
    "gaussian": ((24,), gaussian, False),
    "srad": ((40, 2), srad, True),
    "histogram": ((1, 24), histogram, True),
    "nbody": ((100, 3), nbody, True),
    "pathfinder": ((1000, 30, 10), pathfinder, True),
    "bfs": ((3000, 4), bfs, False),
    "matmul2": ((40,), matmul2, True),
    "fft": ((11,), fft, True),
    "transpose": ((80,), transpose, True),
    "spmv": ((1000, 6), spmv, True),
    "structs": ((1000,), structs, True),
    "pipeline": ((1000, 5), pipeline, True),
    "mandelbrot": ((32, 4), mandelbrot, True),
    "wave": ((40, 5), wave, True),
}
