#!/usr/bin/python3
"""Runs the queries of src/doc/study-store.md on a store, and compares what they find with what `study show` says.

    check_queries.py STUDY-STORE.md RESULTS.db REPORT.json
"""
import json
import sqlite3
import sys


def need(condition, message, *values):
    if not condition:
        sys.exit("check_queries: " + message % values)


def queries(path):
    """Indented blocks behind the heading, by the first words of the line before."""
    found = {}
    title = None
    block = []
    with open(path) as file:
        lines = file.read().split("## Queries", 1)[1].splitlines() + [""]
    for line in lines:
        if line.startswith("    "):
            block.append(line[4:])
        elif block and line == "":
            found[title] = "\n".join(block)
            block = []
        elif line and not line.startswith("#"):
            title = " ".join(line.split()[:3])
    return found


def main(document, path, report):
    with open(report) as file:
        study = json.load(file)["study"]
    texts = queries(document)
    need(len(texts) >= 6, "only %d queries: %r", len(texts), list(texts))
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.row_factory = sqlite3.Row
    rows = {}
    for title, text in texts.items():
        try:
            rows[title] = [dict(row) for row in db.execute(text)]
        except sqlite3.Error as error:
            need(False, "%s: %s", title, error)
    first = study["policy"][0]
    if "span_s" in study:
        worst = rows["Histories: the worst,"]
        need([row["scenario"] for row in worst] == [case["scenario"] for case in first["worst"]], "histories")
        return
    for row in rows["How slow is"]:
        spread = next(v for v in study["policy"] if v["engine"] == row["label"] and v["policy"] == row["policy"])
        spread = spread["slowdown_ratio"]
        need(row["n"] == spread["n"] and row["p50"] == spread["p50"] and row["p99"] == spread["p99"], "quantiles: %r", row)
        need(row["worst"] == spread["max"] and abs(row["mean"] - spread["mean"]) < 1e-12 * row["mean"], "mean: %r", row)
    cases = {case["scenario"]: case for case in first["worst"]}
    need([row["scenario"] for row in rows["What failed in"]] == list(cases)[:10], "worst: %r", rows["What failed in"])
    for row in rows["What failed in"]:
        failed = [name.split("*")[0] for name in cases[row["scenario"]]["failed"].split(", ")]  # without what is left
        need(sorted((row["failed"] or "").split(" + ")) == sorted(failed), "failed: %r", row)
    damage = [row["damage"] for row in rows["Which parts do"]]
    need(all(abs(a - c["damage_ratio"]) < 1e-12 for a, c in zip(damage, first["critical"])), "parts: %r", damage)
    need(len(damage) == min(10, len(first["critical"])), "%d parts", len(damage))
    stopping = sum(row["parts"] for row in rows["Which parts can"])
    need(stopping == sum(c["stopping"] for c in first["classes"]), "%d parts always stop", stopping)
    outcome = {(r["scenario"], r["variant"]): r for r in db.execute("SELECT * FROM outcome WHERE variant < 2")}
    better = []
    for (scenario, variant), a in outcome.items():
        b = outcome.get((scenario, 1))
        if variant == 0 and b is not None:
            faster = a["slowdown"] is not None and b["slowdown"] is not None and b["slowdown"] < a["slowdown"]
            if b["state"] < a["state"] or faster:
                saved = a["slowdown"] - b["slowdown"] if faster else -1
                better.append((b["state"] - a["state"], -saved, scenario))
    need([row["scenario"] for row in rows["Where does one"]] == [s for _, _, s in sorted(better)[:10]], "better: %r",
         rows["Where does one"])


if __name__ == "__main__":
    main(*sys.argv[1:])
