"""Broken copies of files: bytes changed, lines dropped, doubled and swapped, ends cut.

    mutate.py SEED N FOLDER FILE...     FOLDER/I-NAME for I < N of every file
"""
import os
import random
import sys


def broken(rng, data):
    for _ in range(rng.choice([1, 1, 2, 5])):
        kind = rng.randrange(6)
        at = rng.randrange(len(data) + 1)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
        elif kind == 2:
            data = data[:at] + rng.choice([b"-1", b"0", b"99999999999999999999", b"1e999", b"nan", b" ", b"\n", b'"', b"<"]) + data[at:]
        else:
            lines = data.split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 3:
                del lines[i]
            elif kind == 4:
                lines.insert(j, lines[i])
            else:
                lines[i], lines[j] = lines[j], lines[i]
            data = b"\n".join(lines)
    return data


seed, n, folder, *files = sys.argv[1:]
rng = random.Random(int(seed))
for path in files:
    whole = open(path, "rb").read()
    for i in range(int(n)):
        with open(f"{folder}/{i}-{os.path.basename(path)}", "wb") as f:
            f.write(broken(rng, whole))
