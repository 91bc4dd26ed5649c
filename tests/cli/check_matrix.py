"""Traffic matrices at random, and what comes back, by readers that share nothing with fabriscope's; by scipy's as well
where it is installed.

    check_matrix.py make FOLDER SEED       N.csv and N.mtx: the same matrix, written in different ways; N.json: its entries
    check_matrix.py same FOLDER            N.out.csv and N.out.mtx, written by fabriscope, hold these entries
"""
import collections
import csv
import json
import random
import re
import sys

GPUS = 32
N = 10


def spell(rng, value):
    return rng.choice([str(value), f"{value}.0", f"{value}.25", f"{value:.12e}"]) if value < 10**9 else str(value)


def make(folder, seed):
    rng = random.Random(seed)
    for i in range(N):
        n = rng.choice([1, 3, 40, 400])
        pairs = [rng.sample(range(GPUS), 2) for _ in range(n)]
        entries = [(a, b, rng.choice([0, 1, 7, rng.randint(1, 10**6), rng.randint(10**15, 2 * 10**15)])) for a, b in pairs]
        if not any(size for _, _, size in entries):
            entries.append((0, 1, 5))
        sums = collections.Counter()
        for a, b, size in entries:
            sums[f"{a},{b}"] += size
        json.dump({pair: size for pair, size in sums.items() if size}, open(f"{folder}/{i}.json", "w"))
        end = rng.choice(["\n", "\r\n"])
        with open(f"{folder}/{i}.csv", "w", newline="") as f:
            lines = ["src,dst,bytes"]
            for a, b, size in entries:
                lines += rng.choices(["", "# a remark"], k=1) if rng.random() < 0.1 else []
                lines.append(rng.choice(["{},{},{}", " {} , {} , {} "]).format(a, b, spell(rng, size)))
            f.write(end.join(lines) + rng.choice(["", end]))
        with open(f"{folder}/{i}.mtx", "w", newline="") as f:
            real = rng.random() < 0.5
            lines = [rng.choice(["%%MatrixMarket matrix coordinate {} general", "%%matrixmarket MATRIX Coordinate {} General"])
                     .format("real" if real else "integer"), "% a remark", f"{GPUS} {GPUS} {len(entries)}"]
            lines += [f"{a + 1} {b + 1}\t{spell(rng, size) if real else size}" for a, b, size in entries]
            f.write(end.join(lines) + end)


def read_csv(path):
    with open(path, newline="") as f:
        rows = list(csv.reader(f))
    assert rows[0] == ["src", "dst", "bytes"]
    return {f"{a},{b}": int(size) for a, b, size in rows[1:]}


def read_market(path):
    lines = open(path).read().splitlines()
    assert re.fullmatch(r"%%MatrixMarket matrix coordinate integer general", lines[0])
    body = [line.split() for line in lines if not line.startswith("%")]
    rows, columns, n = map(int, body[0])
    assert rows == columns == GPUS and n == len(body) - 1
    return {f"{int(a) - 1},{int(b) - 1}": int(size) for a, b, size in body[1:]}


def read_scipy(path):
    import scipy.io
    matrix = scipy.io.mmread(path).tocoo()
    assert matrix.shape == (GPUS, GPUS)
    return {f"{a},{b}": int(size) for a, b, size in zip(matrix.row, matrix.col, matrix.data)}


def same(folder):
    try:
        import scipy.io
        readers = [read_market, read_scipy]
    except ImportError:
        readers = [read_market]
    for i in range(N):
        wanted = json.load(open(f"{folder}/{i}.json"))
        for source in ("csv", "mtx"):
            assert read_csv(f"{folder}/{i}.from-{source}.csv") == wanted, (i, source, "csv")
            for reader in readers:
                assert reader(f"{folder}/{i}.from-{source}.mtx") == wanted, (i, source, reader.__name__)


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]))
else:
    same(sys.argv[2])
