"""Two files of figures of scripts/bench beside each other."""

import json

FLOOR = 0.05  # noise of a row whose runs agree better than that
ONE_RUN = 0.25  # noise of a row whose spread is not known
MEMORY = 0.10  # memory hardly varies


class Unusable(Exception):
    pass


def read(path):
    """Rows by name."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
        return {row["name"]: row for row in rows}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Unusable(f"{path} is no file of scripts/bench --json: {error}") from error


def figure(row):
    """What is compared of a row, and its unit; None where nothing was measured."""
    if row is None:
        return None
    if row.get("unit") == "MiB":
        return row["value"], "MiB"
    if row.get("cpu_min_s") is None:  # of pages; else nothing was measured
        return (row["value"], row["unit"]) if "value" in row else None
    return row["cpu_min_s"], "s"


def spread(row):
    """How far the median of the runs is above the fastest."""
    if row["runs"] < 2 or "cpu_min_s" not in row:
        return ONE_RUN
    least = row["cpu_min_s"]
    return row["cpu_s"] / least - 1 if least > 0 else 0


def verdict(old, new):
    """Ratio new / old (None without one), noise, and what that says."""
    before, after = figure(old), figure(new)
    if before is None or after is None or before[1] != after[1]:
        return None, None, "new" if after is not None else "missing" if before is not None else "not measured"
    if before[1] == "MiB":
        noise, words = MEMORY, ("more memory", "less memory")
    else:
        noise, words = max(FLOOR, spread(old), spread(new)), ("larger", "smaller") if before[1] == "MB" else ("slower", "faster")
    if before[0] <= 0:
        return None, noise, "within noise" if after[0] <= 0 else words[0]
    ratio = after[0] / before[0]
    return ratio, noise, words[0] if ratio > 1 + noise else words[1] if ratio * (1 + noise) < 1 else "within noise"


def shown(row):
    value = figure(row)
    return "-" if value is None else f"{value[0]:.4g} {value[1]}"


def compare(old, new, out):
    """Prints the table of all rows of both. Whether nothing became slower or needs more memory."""
    line = "{:<45} {:>12} {:>12} {:>7} {:>7}  {}"
    print(line.format("fastest run", "old", "new", "ratio", "noise", "verdict"), file=out)
    count = {}
    for name in list(old) + [name for name in new if name not in old]:
        ratio, noise, word = verdict(old.get(name), new.get(name))
        count[word] = count.get(word, 0) + 1
        print(line.format(name, shown(old.get(name)), shown(new.get(name)), "-" if ratio is None else f"{ratio:.2f}",
                          "-" if noise is None else f"{noise:.0%}", word), file=out)
    print(", ".join(f"{n} {word}" for word, n in sorted(count.items())) or "no rows", file=out)
    return "slower" not in count and "more memory" not in count
