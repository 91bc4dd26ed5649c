#!/usr/bin/env bash
# Published figures beside ours: src/doc/validation.md is what `validate` prints, misses within what is promised, and what is shown beside a run.
# UPDATE=1 bash tests/cli/test_validate.sh PROGRAM rewrites the page, and these figures in src/doc/scoreboard.md.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
page=$root/src/doc/validation.md
"$program" validate --quiet --out out >text || fail "exit code $?"
{
  sed '/^```text$/q' "$page"
  sed 1d text
  echo '```'
} >new.md
[[ -z ${UPDATE-} ]] || cp new.md "$page"
diff -u "$page" new.md || fail "the page is not what validate prints"
[[ -z ${UPDATE-} ]] || "$root/scripts/scoreboard" --update out/report.json
"$root/scripts/scoreboard" --check out/report.json || fail "the scoreboard is not that of this program"
! grep -n '…\|.\{81\}' text || fail "lines that are cut or too long"

# What is promised of each source: the largest deviation, and the mean over figures that are not exact; the rest is exact or named as a miss.
/usr/bin/python3 - out/report.json <<'CHECK' || fail "deviations"
import json, sys
report = json.load(open(sys.argv[1], encoding="utf-8"))["validate"]
assert report["met"] + report["missed"] + report["not_covered"] == len(report["rows"]) >= 100
for source, mean, worst in (("llama3", 0.03, 0.03), ("mlperf-llama3", 0.03, 0.05), ("megatron", 0.035, 0.08), ("rail-only", 0.01, 0.014)):
    off = [abs(row["deviation_ratio"]) for row in report["rows"] if row["source"] == source and row["tolerance_ratio"] > 0 and "bisection" not in row["field"]]
    assert off and sum(off) / len(off) <= mean and max(off) <= worst, (source, sum(off) / len(off), max(off))
for row in report["rows"]:
    ratio = row.get("predicted", 0) / row["published"] - 1
    met = "predicted" in row and abs(ratio) <= row["tolerance_ratio"] + 1e-9
    assert met == row["met"] and ("deviation_ratio" not in row or abs(ratio - row["deviation_ratio"]) < 1e-12), row
    assert met or row["note"], f"a miss without a reason: {row}"
CHECK

# Every preset is held to what its source says; of alvis-a100 no count is published.
"$program" list presets --json >presets.json
/usr/bin/python3 - <<'CHECK' || fail "presets"
import json
words = {word for row in json.load(open("out/report.json", encoding="utf-8"))["validate"]["rows"] for word in row["command"].split()}
missing = {preset["name"] for preset in json.load(open("presets.json", encoding="utf-8"))} - {word[7:] for word in words if word.startswith("preset:")}
assert missing == {"alvis-a100"}, missing
CHECK

# The command of a row, typed, gives its figure; a run of the same design and job shows it under any engine, another job does not.
/usr/bin/python3 - "$program" <<'CHECK' || fail "beside a run"
import json, subprocess, sys
def run(*words):
    return json.loads(subprocess.run([sys.argv[1], *words, "--json", "--quiet"], check=True, capture_output=True).stdout)
row = next(r for r in json.load(open("out/report.json", encoding="utf-8"))["validate"]["rows"] if r["command"].startswith("run preset:jeanzay"))
report = run(*row["command"].split())
assert report["iteration"][0]["tflops_per_gpu"] == row["predicted"]
beside = {r["what"]: r for r in report["published"]["rows"]}
assert beside[row["what"]] == row and beside["servers"]["predicted"] == 48, beside
other = run("run", "preset:jeanzay-bloom", "--engine", "ecmp")
again = next(r for r in other["published"]["rows"] if r["what"] == row["what"])
assert again["predicted"] == other["iteration"][0]["tflops_per_gpu"] != row["predicted"], again
with open("mine.xml", "w", encoding="utf-8") as file:
    file.write('<design name="mine" base="preset:jeanzay-bloom"><source>of my own</source></design>')
assert run("run", "mine.xml", "--engine", "spray")["published"] == report["published"]
for words in (["--job", "microbatch=4"], ["--set", "fabric.nic=200Gb/s"]):
    assert "published" not in run("run", "preset:jeanzay-bloom", *words), words
CHECK

# Files of one's own, and what is wrong with them.
own() { # own WHERE AND WHAT <<< RUNS
  printf '<published title="own"><source>measured</source>\n%s\n</published>\n' "$(cat)" >own.xml
  "$program" validate ./own.xml --quiet >out.txt 2>err.txt && fail "taken: $1"
  grep -qF "$1" err.txt || fail "$1: $(cat err.txt)"
}
figure='<figure what="GPUs" value="16" field="fabric.gpus"/>'
own './own.xml:2:35: value: '"'sixteen'" <<<"<run command=\"build fat-tree:k=4\">${figure/16/sixteen}</run>"
own "./own.xml:2:35: build fat-tree:k=4: the result has no figure 'fabric.gpu'" <<<"<run command=\"build fat-tree:k=4\">${figure/gpus/gpu}</run>"
own "./own.xml:2:35: build fat-tree:k=5: fat-tree:k=5:1:12: k: 5 is odd" <<<"<run command=\"build fat-tree:k=5\">$figure</run>"
own "list presets: the command reports nothing" <<<"<run command=\"list presets\">$figure</run>"
own "is no command whose result has figures" <<<"<run command=\"validate ./own.xml\">$figure</run>"
own "unknown attribute of figure 'valeu'; did you mean 'value'?" <<<"<run command=\"build fat-tree:k=4\">${figure/GPUs\"/GPUs\" valeu=\"1\"}</run>"
own "needs a note" <<<'<run command="build fat-tree:k=4"><figure what="GPUs" value="16"/></run>'
own "./own.xml:2:1: unknown element of a file of published figures: ran" <<<"<ran/>"
own "the file of published figures has no element run" <<<""
printf '<published title="own"><source>measured</source><run command="build fat-tree:k=4">%s%s</run></published>' \
  "$figure" '<figure what="switches" value="19" tolerance="6" field="fabric.switches"/>' >own.xml
"$program" validate own.xml --quiet >out.txt || fail "a miss is no failure: $?"
grep -q '^VALIDATION  2 of 2 published figures within their tolerance, none missed$' out.txt || fail "own figures: $(head -3 out.txt)"
"$program" validate llama4 --quiet 2>err.txt && fail "an unknown source"
grep -q "there is no source 'llama4'; did you mean 'llama3'?" err.txt || fail "$(cat err.txt)"
exit $((failures > 0))
