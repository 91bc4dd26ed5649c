#!/usr/bin/env bash
# Names of installed boxes and ports of up to 255 bytes, as LLDP and inventories have them, in every reader whose format
# allows them: read, reported, looked up and written whole. Longer ones are refused with their place.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

"$program" build rail-spine:gpus=16,radix=8 --format cables --quiet >short.csv
"$program" build rail-spine:gpus=16,radix=8 --format ptm --quiet >short.dot
"$program" build rail-spine:gpus=16,radix=8 --format graphml --quiet >short.graphml
"$program" build clos:gpus=64,radix=32 --format slurm-tree --quiet >short.conf
$python - <<'MAKE'
import csv, re
def long(name, n=255):  # of which only the middle is like the others
    return name + "." + "x" * (n - len(name) * 2 - 2) + "." + name
def box(name, n=255):
    return name if " " in name else long(name, n)
with open("short.csv", encoding="utf-8") as file:
    rows = list(csv.reader(file))
for path, n in (("long.csv", 255), ("too-long.csv", 256)):
    with open(path, "w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(
            [rows[0]] + [[box(r[0], n), long("p" + r[1]), box(r[2], n), long("p" + r[3])] + r[4:] for r in rows[1:]])
def rewrite(old, new, pattern):
    with open(old, encoding="utf-8") as file, open(new, "w", encoding="utf-8") as out:
        out.write(re.sub(pattern, lambda m: long(m[0]), file.read()))
rewrite("short.dot", "long.dot", r"(server|leaf|spine)-[0-9]+")
rewrite("short.graphml", "long.graphml", r"(leaf|spine)-[0-9]+")
rewrite("short.conf", "long.conf", r"(leaf|leaves|spine|spines|core|cores)-[0-9]+(?![0-9-])")
MAKE
for file in long.csv long.dot long.graphml long.conf; do
  name=$(grep -oE '(leaf|leaves)-0\.x*\.(leaf|leaves)-0' "$file" | head -1)
  [[ ${#name} -eq 255 ]] || fail "$file: the test has a name of ${#name} bytes"
  for command in "import $file" "audit $file" "build installed:$file --format cables"; do
    # shellcheck disable=SC2086
    "$program" $command --quiet >out.txt 2>err.txt || fail "$command: $(head -c 300 err.txt)"
  done
  grep -qF "$name" out.txt || fail "$file: the cables do not have the name whole"
done

# Reports, options and formats take the same names, and those of ports.
leaf=$(grep -oE 'leaf-0\.x*\.leaf-0' long.csv | head -1)
port=$(grep -F "$leaf" long.csv | cut -d, -f4 | head -1)
[[ ${#port} -eq 255 ]] || fail "the test has a port of ${#port} bytes"
traffic=(--traffic pattern:permutation --engine ecmp)
"$program" route installed:long.csv "${traffic[@]}" --explain "$leaf:$port" --json --quiet >explain.json 2>err.txt || fail "explain: $(head -c 300 err.txt)"
grep -qF "$leaf:$port > " explain.json || fail "explain: the link is not called by its names"
"$program" route installed:long.csv "${traffic[@]}" --fail "$leaf" --degrade "$leaf:$port=0.5" --out report --quiet >out.txt 2>err.txt ||
  fail "route: $(head -c 300 err.txt)"
for file in report.json report.xml cables.csv fabric.graphml flows.csv; do
  if [[ -e report/$file ]]; then grep -qF "$leaf" "report/$file" || fail "$file has not the name whole"; fi
done
"$program" build installed:long.csv --format cables --quiet | cut -d, -f1-4 | sort >again.csv
cut -d, -f1-4 long.csv | sort | cmp - again.csv || fail "written cables differ from those that were read"

# --- what is longer ---
status=0
"$program" import too-long.csv --quiet >out.txt 2>err.txt || status=$?
[[ $status -eq 3 ]] && grep -qE '^fabriscope: too-long.csv:2:[0-9]+: a cell is longer than 255 bytes' err.txt || fail "256 bytes: $status, $(head -c 300 err.txt)"

exit $((failures > 0))
