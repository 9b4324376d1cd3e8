import sys, random
m, n, k = map(int, sys.argv[1:])
random.seed(1)
for name, r, c in (("matrix1.txt", m, k), ("matrix2t.txt", n, k)):
    with open(name, "w") as f:
        f.write("%d %d " % (r, c))
        f.write(" ".join("%.4f" % random.random() for _ in range(r * c)))
