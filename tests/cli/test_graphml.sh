#!/usr/bin/env bash
# The files under --out: GraphML that networkx and igraph read and the XSD accepts, JSON and XML that fit their schemas.
#
#     test_graphml.sh PROGRAM
set -euo pipefail

program=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
xsd=${FABRISCOPE_SAMPLES:+$FABRISCOPE_SAMPLES/graphml-xsd} # with a catalog that keeps xmllint off the network; optional
python=/usr/bin/python3  # Debian's, which sees Debian's packages
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for module in networkx igraph jsonschema; do
  if ! "$python" -W ignore -c "import $module" 2>/dev/null; then
    echo "python3-$module is not installed: skipped" >&2
    exit 77
  fi
done

"$program" schema result >"$folder/result.schema.json"
"$program" schema report >"$folder/report.xsd"
n=0
check() {
  n=$((n + 1))
  local out=$folder/$n
  "$program" "$@" --out "$out" --quiet >"$folder/stdout" || { echo "failed: $*" >&2; exit 1; }
  "$python" "$here/check_graphml.py" "$out/fabric.graphml" "$out/report.json"
  xmllint --noout --nonet --schema "$folder/report.xsd" "$out/report.xml" 2>&1
  "$python" -W ignore - "$folder/result.schema.json" "$out/report.json" <<'PY'
import json, sys
import jsonschema
with open(sys.argv[1]) as schema, open(sys.argv[2]) as report:
    jsonschema.Draft202012Validator(json.load(schema)).validate(json.load(report))
PY
  if [[ -d $xsd ]]; then
    XML_CATALOG_FILES=$xsd/catalog.xml xmllint --noout --nonet --schema "$xsd/graphml.xsd" "$out/fabric.graphml" 2>&1
  fi
}

check run rail-spine:gpus=64,radix=16
check run rail-only:gpus=64,radix=16,domain=16
check run clos:gpus=128,radix=16,taper=3 --seeds 3
check run fat-tree:k=8
check build clos:gpus=64,radix=16
check build clos:gpus=64,radix=16,floor.rack-power=21kW,floor.hall-power=50kW
check route fat-tree:k=4 --traffic pattern:shift,by=4 --engine ecmp --engine dmodk
check route fat-tree:k=8 --traffic pattern:permutation --engine spray --bound

# an existing file of others stays as it is, and the message names it
echo '{}' >"$folder/1/report.json"
before=$(cksum <"$folder/1/report.json")
if "$program" run clos:gpus=64,radix=16 --out "$folder/1" --quiet >/dev/null 2>"$folder/stderr"; then
  echo "existing reports were overwritten without --force" >&2
  exit 1
fi
grep -q 'report\.json' "$folder/stderr"
[[ $before == "$(cksum <"$folder/1/report.json")" ]]
[[ $(ls "$folder/1" | wc -l) == 7 ]]
