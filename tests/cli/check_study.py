#!/usr/bin/python3
"""Computes the figures of a study again, from the rows of its store, and compares them with what `study show` says.

    check_study.py RESULTS.db REPORT.json [ROWS.csv]
"""
import csv
import functools
import json
import math
import re
import sqlite3
import sys
from collections import defaultdict
from fractions import Fraction


class Problem(Exception):
    pass


def need(condition, message, *values):
    if not condition:
        raise Problem(message % values)


def close(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-12 * max(1, abs(b))


def same(what, is_, should):
    need(close(is_, should), "%s is %r, not %r", what, is_, should)


def exact_mean(values):
    """Without any rounding until the end: no order of adding up is favoured."""
    return float(sum(map(Fraction, values)) / len(values))


def nearest_rank(values, q, falling):
    """Smallest value that at least the fraction q of them do not exceed; falling: largest that as many reach."""
    values = sorted(values, reverse=falling)
    return values[max(math.ceil(q * len(values) - 1e-9), 1) - 1]


def natural(name):
    return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name)]


def check_spread(what, spread, rows, key, falling=False):
    """rows: of the scenarios that count; those without the figure are left out."""
    known = [(row[key], row["scenario"]) for row in rows if row[key] is not None]
    need((spread is None) == (not known), "%s: %r beside %d values", what, spread, len(known))
    if not known:
        return
    values = [value for value, _ in known]
    same(what + " n", spread["n"], len(values))
    same(what + " mean", spread["mean"], exact_mean(values))
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        need(spread[name] == nearest_rank(values, q, falling), "%s: %s is %r", what, name, spread[name])
    worst = min(values) if falling else max(values)
    end = "min" if falling else "max"
    need(spread[end] == worst, "%s: %s is %r, not %r", what, end, spread[end], worst)
    need(spread[end + "_scenario"] == min(s for v, s in known if v == worst), "%s: not the first scenario", what)


class Store:
    def __init__(self, path):
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        db.row_factory = sqlite3.Row
        self.plan = dict(db.execute("SELECT * FROM plan").fetchone())
        self.variants = [dict(r) for r in db.execute("SELECT * FROM variant ORDER BY variant")]
        history = self.plan["span_s"] > 0
        join = "LEFT JOIN history USING (scenario, variant)" if history else ""
        self.rows = defaultdict(list)  # by variant
        for row in db.execute("SELECT * FROM outcome %s" % join):
            self.rows[row["variant"]].append({**dict(row), "goodput": row["goodput"] if history else None})
        self.parts = defaultdict(list)  # component -> scenarios
        self.failed = defaultdict(list)
        names = {r["component"]: r["name"] + ("*%r" % r["left"] if r["left"] > 0 else "")
                 for r in db.execute("SELECT * FROM component")}
        kinds = {r["component"]: r["kind"] for r in db.execute("SELECT * FROM component")}
        self.kind = {names[c]: kinds[c] for c in names}
        for scenario, component in db.execute("SELECT scenario, component FROM failed"):
            self.parts[names[component]].append(scenario)
            self.failed[scenario].append(names[component])
        self.history = history
        self.times = all(v["whole_time_s"] is not None for v in self.variants)

    def blame(self, row):
        """What a part has of it: none, where seeds do not tell its time from that of the healthy fabric."""
        whole = self.variants[row["variant"]]["whole_time_s"]
        return 0 if not self.history and row["state"] == 0 and whole is not None and row["time_s"] == whole else self.damage(row)

    def damage(self, row):
        """None: not known."""
        if self.history:
            return None if row["goodput"] is None else 1 - row["goodput"]
        if row["state"] == 1:
            return 1
        if self.times:
            return None if row["slowdown"] is None else 1 - 1 / row["slowdown"]
        whole = self.variants[row["variant"]]["whole_ratio"]
        return 1 - max(1, whole) / max(1, row["worst_ratio"])


def check_counts(store, variant, rows):
    runs = [row for row in rows if row["state"] == 0]
    what = "%s, %s" % (variant["engine"], variant["policy"])
    need(variant["done"] == len(rows), "%s: %d rows, not %d", what, len(rows), variant["done"])
    need(variant["stopped"] == len(rows) - len(runs), "%s: %d stop", what, len(rows) - len(runs))
    need(variant["disconnected"] == sum(row["n_disconnected"] > 0 for row in rows), "%s: disconnected", what)
    need(variant["moved_scenarios"] == sum(row["n_moved"] > 0 for row in rows), "%s: moved", what)
    for name, key, of in (("slowdown_ratio", "slowdown", runs), ("time_s", "time_s", runs),
                          ("worst_ratio", "worst_ratio", runs), ("collisions", "n_collisions", runs),
                          ("lost_ratio", "lost_ratio", rows), ("moved_servers", "n_moved", rows)):
        check_spread("%s: %s" % (what, name), variant.get(name), of, key)
    check_spread(what + ": goodput", variant.get("goodput_ratio"), rows, "goodput", falling=True)
    damages = [d for d in map(store.damage, rows) if d is not None]
    same(what + ": damage", variant.get("impact_ratio"), exact_mean(damages) if damages else None)
    if store.history:
        for name in ("restart_ratio", "redo_ratio", "slow_ratio", "wait_ratio"):
            same(name, variant[name], exact_mean([row[name] for row in rows]))
        same("failures", variant["failures"], exact_mean([row["n_failures"] for row in rows]))
        same("stops", variant["stops"], exact_mean([row["n_stops"] for row in rows]))
        parts = sum(variant[n] for n in ("restart_ratio", "redo_ratio", "slow_ratio", "wait_ratio", "write_ratio"))
        need(abs(parts + variant["goodput_ratio"]["mean"] - 1) < 1e-9, "%s: the parts do not add up to 1", what)


def check_bins(store, study, variant, rows):
    bins = [0] * (len(study["bin_edges"]) + 1)
    for row in rows:
        damage = store.damage(row)
        if damage is None or (row["state"] == 1 and not store.history):
            continue
        factor = math.inf if damage == 1 else 1 / (1 - damage)
        bins[sum(factor >= edge for edge in study["bin_edges"])] += 1
    need(bins == variant["bins"], "bins are %r, not %r", variant["bins"], bins)


def credits(store, rows):
    """By component the rows in which it fails, and the damages that are credited to it (study_summary.h)."""
    by_scenario = {row["scenario"]: row for row in rows}
    damage = {s: store.blame(row) for s, row in by_scenario.items()}
    ceiling = {}
    for name, scenarios in store.parts.items():
        known = sorted(max(0, damage[s]) for s in scenarios if damage.get(s) is not None)
        ceiling[name] = known[len(known) // 10] if known else 1

    def together(names):
        return 1 - math.prod(1 - ceiling[name] for name in names)

    def due_to(name, others, impact):
        stops = impact >= 1 and ceiling[name] >= 1 and all(ceiling[other] < 1 for other in others)
        return stops or together(others) <= max(1e-9, 0.1 * impact)

    single = all(len(store.failed[s]) == 1 for s in by_scenario)
    out = {}
    for name, scenarios in store.parts.items():
        mine = [by_scenario[s] for s in scenarios if s in by_scenario]
        mine_known = [r for r in mine if damage[r["scenario"]] is not None]
        own = [damage[r["scenario"]] for r in mine_known
               if single or due_to(name, set(store.failed[r["scenario"]]) - {name}, damage[r["scenario"]])]
        if mine:
            out[name] = (mine, own)
    known = [(s, d) for s, d in damage.items() if d is not None]
    meets = [d for s, d in known if d > 1e-9 and together(store.failed[s]) <= 0.1 * d]
    draws = [max(0, d) for _, d in known]
    sizes = {len(store.failed[s]) for s in by_scenario}
    whole = len(sizes) == 1 and len(by_scenario) == math.comb(len(store.kind), *sizes)
    return single, whole, out, meets, draws


def is_clear(single, whole, own, meets, draws, n_parts):
    if not own:
        return False
    mean = exact_mean(own)
    if single:
        return mean > 1e-9
    half = half_width(own) or 0
    if 2 * sum(d > 1e-9 for d in own) <= len(own):
        return False
    if whole:
        return mean - half > 1e-9
    as_large = sum(d >= mean / 2 for d in meets)
    chance = (as_large + 3) / (as_large + sum(d < mean / 2 for d in draws) + 3)
    return mean - half > 1e-9 and chance ** len(own) * n_parts <= 0.01


def half_width(values):
    n = len(values)
    mean = exact_mean(values)
    if n < 2:
        return None
    return student(n - 1) * math.sqrt(sum((d - mean) ** 2 for d in values) / (n - 1) / n)


def check_ranking(store, variant, rows, top, links):
    """Every component, by its name; of sets of several what is credited, and those alone that are clear."""
    single, whole, of, meets, draws = credits(store, rows)
    ranking = {}
    for name, (mine, own) in of.items():
        if links and store.kind[name] not in ("link", "port"):
            continue
        if own and (single or is_clear(single, whole, own, meets, draws, len(store.kind))):
            ranking[name] = (exact_mean(own), mine, own)
    listed = variant["links" if links else "critical"]
    need(len(listed) == min(top, len(ranking)), "%d components named, not %d", len(listed), len(ranking))
    for i, part in enumerate(listed):
        damage, mine, own = ranking[part["name"]]
        same(part["name"] + ": damage", part["impact_ratio"], damage)
        need(part["scenarios"] == len(mine), "%s: scenarios", part["name"])
        need(part["credited"] == len(own), "%s: credited", part["name"])
        need(part["stopped"] == sum(row["state"] for row in mine), "%s: stopped", part["name"])
        need(part["kind"] == store.kind[part["name"]], "%s: kind", part["name"])
        need(part["clear"] == is_clear(single, whole, own, meets, draws, len(store.kind)), "%s: clear", part["name"])
        half = half_width(own)
        need((half is None) == ("impact_ci95_ratio" not in part), "%s: interval", part["name"])
        need(half is None or abs(part["impact_ci95_ratio"] - half) <= 1e-3 * half + 1e-7, "%s: interval %r, not %r",
             part["name"], part.get("impact_ci95_ratio"), half)
        slow = [row["slowdown"] for row in mine if row["state"] == 0 and row["slowdown"] is not None]
        same(part["name"] + ": mean slowdown", part.get("mean_slowdown_ratio"), exact_mean(slow) if slow else None)
        need(part.get("max_slowdown_ratio") == (max(slow) if slow else None), "%s: slowdown", part["name"])
        if i > 0:
            before = listed[i - 1]
            tie = before["impact_ratio"] == part["impact_ratio"]
            need(before["impact_ratio"] > part["impact_ratio"] or (tie and natural(before["name"]) < natural(part["name"])),
                 "%s before %s", before["name"], part["name"])
    left_out = [d for name, (d, _, _) in ranking.items() if name not in {part["name"] for part in listed}]
    need(not left_out or max(left_out) <= listed[-1]["impact_ratio"] + 1e-12, "a worse component is left out")
    if not links:
        n = sum(is_clear(single, whole, own, meets, draws, len(store.kind)) for _, own in of.values())
        need(sum(c["clear"] for c in variant["classes"]) == n, "classes: not %d clear", n)
        need(variant["interactions"] == (0 if single else len(meets)), "%d interactions", len(meets))


@functools.lru_cache(maxsize=None)
def student(degrees):
    """97.5 % quantile of Student's t, by bisection over its density (Simpson's rule)."""
    if degrees > 2000:
        return 1.95996 + 2.372 / degrees
    log_c = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - 0.5 * math.log(degrees * math.pi)

    def density(x):
        return math.exp(log_c - (degrees + 1) / 2 * math.log1p(x * x / degrees))

    def below(x, steps=2000):
        h = x / steps
        inner = sum((4 if i % 2 else 2) * density(i * h) for i in range(1, steps))
        return 0.5 + h / 3 * (density(0) + inner + density(x))

    low, high = 1.9, 13.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.975 else (low, middle)
    return low


def check_cases(store, variant, rows, top):
    stands = [row for row in rows if row["state"] == 1 and not store.history]
    others = [row for row in rows if not (row["state"] == 1 and not store.history) and store.damage(row) is not None]
    others.sort(key=lambda row: (-store.damage(row), row["scenario"]))
    need([c["scenario"] for c in variant["worst"]] == [row["scenario"] for row in others[:top]], "worst scenarios")
    need([c["scenario"] for c in variant["stopping"]] == sorted(row["scenario"] for row in stands)[:top], "stopping")
    for case in variant["worst"] + variant["stopping"]:
        if not store.history and " more" not in case["failed"]:
            need(sorted(case["failed"].split(", ")) == sorted(store.failed[case["scenario"]]) or not case["failed"],
                 "scenario %d fails %s", case["scenario"], case["failed"])


def check_policies(store, study):
    n = len({v["policy"] for v in study["policy"]})
    for choice, first in zip(study.get("choices", []), range(0, len(study["policy"]), n)):
        group = study["policy"][first:first + n]
        names = [v["policy"] for v in group]
        baseline = names.index("first-spare") if "first-spare" in names else 0
        need(choice["baseline"] == names[baseline], "baseline %s", choice["baseline"])
        best = [0] * n
        alone = [0] * n
        differ = rescued = 0
        least = []
        for rows in zip(*(sorted(store.rows[first + i], key=lambda row: row["scenario"]) for i in range(n))):
            damages = [store.damage(row) for row in rows]
            if None in damages:
                continue
            low = min(damages)
            least.append(low)
            good = [i for i in range(n) if damages[i] <= low + 1e-9]
            for i in good:
                best[i] += 1
                alone[i] += len(good) == 1
            differ += max(damages) > low + 1e-9
            rescued += rows[baseline]["state"] == 1 and rows[damages.index(low)]["state"] == 0
        need([v["best"] for v in group] == best, "best: %r", best)
        need([v["alone_best"] for v in group] == alone, "alone: %r", alone)
        need(choice["differ"] == differ and choice["rescued"] == rescued, "differ %d, rescued %d", differ, rescued)
        same("damage of the best", choice.get("impact_ratio"), exact_mean(least) if least else None)


def check_shown(store, study):
    """What stands first is fastest: mean speed, in parts of that where nothing failed, over the time there (or the fullest link)."""
    speeds = []
    for i, variant in enumerate(store.variants):
        damages = [d for d in map(store.damage, store.rows[i]) if d is not None]
        whole = variant["whole_time_s"] if store.times else max(1, variant["whole_ratio"])
        speeds.append((1 - exact_mean(damages)) / whole if damages else 0)
    first = next(i for i, speed in enumerate(speeds) if speed >= max(speeds) * (1 - 1e-9))
    shown = study["policy"][first]
    need((study["shown_engine"], study["shown_policy"]) == (shown["engine"], shown["policy"]), "shown is %s, %s, not %s, %s",
         study["shown_engine"], study["shown_policy"], shown["engine"], shown["policy"])
    for name in ("stopped", "disconnected", "impact_ratio", "slowdown_ratio", "goodput_ratio", "worst", "critical"):
        need(study.get(name) == shown.get(name), "%s is not that of what is shown", name)


def check_csv(store, path):
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    rows = sorted((row for of in store.rows.values() for row in of), key=lambda r: (r["scenario"], r["variant"]))
    need(len(lines) == len(rows), "%d lines of CSV, %d rows", len(lines), len(rows))
    for line, row in zip(lines, rows):
        variant = store.variants[row["variant"]]
        need(int(line["scenario"]) == row["scenario"] and line["policy"] == variant["policy"], "line %r", line)
        need(line["engine"] == variant["engine"] and line["state"] == ("runs", "stopped")[row["state"]], "%r", line)
        for name in ("slowdown", "time_s", "worst_ratio", "lost_ratio") + (("goodput",) if store.history else ()):
            need((float(line[name]) if line[name] else None) == row[name], "%s of %r", name, line)
        if not store.history:
            failed = line["failed"].split(" + ") if line["failed"] else []
            need(sorted(failed) == sorted(store.failed[row["scenario"]]), "failed of %r", line)


def main(arguments):
    store = Store(arguments[0])
    with open(arguments[1]) as file:
        study = json.load(file)["study"]
    need(study["times"] == store.times, "times")
    need(study["scenarios"] == store.plan["n_scenarios"], "scenarios")
    need(study["done"] == len(store.rows[0]), "done")
    need(len(study["policy"]) == len(store.variants), "variants")
    top = max(10, max(len(v["critical"]) for v in study["policy"]))
    for i, variant in enumerate(study["policy"]):
        rows = store.rows[i]
        check_counts(store, variant, rows)
        check_bins(store, study, variant, rows)
        check_cases(store, variant, rows, top)
        if not store.history:
            check_ranking(store, variant, rows, top, False)
            check_ranking(store, variant, rows, top, True)
    check_policies(store, study)
    check_shown(store, study)
    if len(arguments) > 2:
        check_csv(store, arguments[2])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Problem as problem:
        sys.exit("check_study: %s" % problem)
