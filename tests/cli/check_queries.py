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
    need(len(texts) == 8, "only %d queries: %r", len(texts), list(texts))
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
    impact = [row["impact"] for row in rows["Which parts have"]]
    single = db.execute("SELECT max(n) FROM (SELECT count(*) AS n FROM failed GROUP BY scenario)").fetchone()[0] == 1
    if single:  # of larger sets the query has the mean of all company, the report what is credited
        need(all(abs(a - c["impact_ratio"]) < 1e-12 for a, c in zip(impact, first["critical"])), "parts: %r", impact)
        need(len(impact) == min(10, len(first["critical"])), "%d parts", len(impact))
    stopped = [row["n_stopped"] for row in rows["The same question"]]
    need(stopped == sorted(stopped, reverse=True), "sums: %r", stopped)
    sums = {row["name"]: row for row in db.execute(
        "SELECT * FROM by_component JOIN component USING (component) WHERE variant = 0 AND left = 0")}
    for part in first["critical"]:
        if part["name"] in sums:
            row = sums[part["name"]]
            need(row["n_scenarios"] == part["scenarios"] and row["n_stopped"] == part["stopped"], "sums of %s", part["name"])
    stopping = sum(row["parts"] for row in rows["Which parts can"])
    need(not single or stopping == sum(c["stopping"] for c in first["classes"]), "%d parts always stop", stopping)
    outcome = {(r["scenario"], r["variant"]): r for r in db.execute("SELECT * FROM outcome WHERE variant < 2")}
    least = {}
    for row in db.execute("SELECT scenario, min(slowdown) AS least FROM outcome WHERE state = 0 GROUP BY scenario"):
        least[row["scenario"]] = row["least"]
    best = {}
    for row in db.execute("SELECT * FROM outcome JOIN variant USING (variant) WHERE state = 0"):
        best[row["policy"]] = best.get(row["policy"], 0) + (row["slowdown"] == least[row["scenario"]])
    found = {row["policy"]: row["best"] for row in rows["How often is"]}
    need(found == {policy: n for policy, n in best.items() if n > 0}, "best: %r, not %r", found, best)
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
