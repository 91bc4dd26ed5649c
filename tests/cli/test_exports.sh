#!/usr/bin/env bash
# Graph exports as other programs read them: schemas, networkx, igraph, Graphviz, graphology; merged views; drawings as a
# browser shows them; what the options refuse; XML reports of all commands.
#
#     test_exports.sh PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
here=$root/tests/cli
python=/usr/bin/python3 # Debian's, which sees Debian's packages
samples=${FABRISCOPE_SAMPLES:+$FABRISCOPE_SAMPLES/graphml-xsd}
chromium=$(command -v chromium || command -v chromium-browser || true)

for module in networkx igraph; do
  "$python" -W ignore -c "import $module" 2>/dev/null || { echo "python3-$module is not installed: skipped"; exit 77; }
done
for tool in xmllint dot; do
  command -v $tool >/dev/null || { echo "$tool is not installed: skipped"; exit 77; }
done
has_graphology=false
if command -v node >/dev/null && [[ -d $root/tests/js/node_modules/graphology ]]; then
  has_graphology=true
else
  echo "graphology is not there (scripts/setup --tests fetches it where npm is): its checks are skipped"
fi
[[ -d $samples ]] || echo "FABRISCOPE_SAMPLES is not set: GraphML is not checked against its schema"
mkdir schemas
cp "$root"/tests/data/schemas/*.xsd schemas
[[ ! -d $samples ]] || cp "$samples"/* schemas

# valid SCHEMA FILE
valid() {
  XML_CATALOG_FILES=schemas/catalog.xml xmllint --noout --nonet --schema "schemas/$1" "$2" >xmllint.log 2>&1
}

# --- the same graph in every format, as others read it ---
n=0
readers() {
  n=$((n + 1))
  local folder=readers-$n
  mkdir "$folder"
  "$program" "$@" --export $folder/g.graphml --export $folder/g.yed.graphml --export $folder/g.gexf --export $folder/g.dot \
    --quiet >/dev/null || { fail "$*"; return; }
  dot -Tdot_json $folder/g.dot >$folder/g.dot.json || fail "dot cannot read $*"
  valid gexf.xsd $folder/g.gexf || fail "GEXF of $*: $(head -n 3 xmllint.log)"
  if [[ -d $samples ]]; then
    valid graphml.xsd $folder/g.graphml || fail "GraphML of $*: $(head -n 3 xmllint.log)"
    valid yed_graphml.xsd $folder/g.yed.graphml || fail "yEd of $*: $(head -n 3 xmllint.log)"
  fi
  local graphology=()
  if $has_graphology; then
    node "$root/tests/js/load_graph.js" $folder/g.graphml $folder/g.yed.graphml $folder/g.gexf >$folder/graphology.json ||
      fail "graphology cannot read $*"
    graphology=($folder/graphology.json)
  fi
  "$python" -W ignore "$here/check_exports.py" readers $folder "${graphology[@]}" || fail "$*"
}
readers route rail-spine:gpus=64,radix=16,taper=2 --traffic pattern:permutation --engine ecmp --engine spray --degrade leaf-2=0.5
readers run clos:gpus=128,radix=16,pod=32,tiers=3 --view pod
readers route torus:gpus=64,torus=4,4,gpus-per-server=4,radix=16 --traffic pattern:permutation --view tier
readers build clos:gpus=64,radix=16,floor.rack-power=21kW,floor.hall-power=50kW --fail rack-1 --fail 'leaf-0:9*0.25'

# the checks can fail
sed 's/type="rectangle"/type="blob"/' readers-1/g.yed.graphml >broken.yed.graphml
[[ ! -d $samples ]] || ! valid yed_graphml.xsd broken.yed.graphml || fail "a shape that yEd does not know is valid"
sed '0,/<edge id="c1"/s//<edge id="c0"/' readers-1/g.gexf >broken.gexf
! valid gexf.xsd broken.gexf || fail "two edges of one id are valid"
cp -r readers-1 broken
sed -i '0,/cost_usd=1500/s//cost_usd=1501/' broken/g.dot
dot -Tdot_json broken/g.dot >broken/g.dot.json
! "$python" -W ignore "$here/check_exports.py" readers broken >/dev/null 2>&1 || fail "a wrong cost is not found"

# --- merged: sums, means and extremes of the whole, made by another program ---
merged=(route clos:gpus=128,radix=16,pod=32,tiers=3,taper=2 --traffic pattern:permutation --engine ecmp --engine spray
  --degrade leaf-2=0.5 --quiet)
"$program" "${merged[@]}" --export whole.graphml >/dev/null
for view in pod rail plane tier; do
  "$program" "${merged[@]}" --view $view --export $view.graphml >/dev/null
  "$python" -W ignore "$here/check_exports.py" merged whole.graphml $view $view.graphml || fail "view $view"
done
"$program" route dragonfly:gpus=72,gpus-per-server=2,dragonfly=2,4,2,radix=16 --traffic pattern:permutation --engine spray \
  --quiet --export dragonfly.graphml >/dev/null
"$program" route dragonfly:gpus=72,gpus-per-server=2,dragonfly=2,4,2,radix=16 --traffic pattern:permutation --engine spray \
  --quiet --export groups.graphml --view pod >/dev/null
"$python" -W ignore "$here/check_exports.py" merged dragonfly.graphml pod groups.graphml || fail "groups of a dragonfly"

# --- drawings ---
drawings=()
draw() { # draw NAME ARGUMENTS...
  local name=$1
  shift
  "$program" "$@" --export "$name.svg" --quiet >/dev/null || fail "$*"
  xmllint --noout --nonet "$name.svg" || fail "$name.svg is no XML"
  grep -q 'prefers-color-scheme: dark' "$name.svg" || fail "$name.svg knows no dark"
  ! grep -qE '(href|src)=' "$name.svg" || fail "$name.svg is not self-contained"
  drawings+=("$name.svg")
}
draw small route rail-spine:gpus=16,nics-per-server=4,radix=16 --traffic pattern:permutation
draw medium route rail-spine:gpus=1024,radix=64,taper=2 --traffic pattern:permutation
draw big route preset:llama3-24k-roce --traffic job:dp-rs
draw rails build rail-only:gpus=32768,radix=64,domain=8
draw two-tiers build clos:gpus=2048
draw pods build fat-tree:k=8 --fail leaf-3 --fail 'spine-9*0.5'
draw torus route torus:gpus=64,torus=4,4,gpus-per-server=4,radix=16 --traffic pattern:permutation --engine spray
draw dragonfly route dragonfly:gpus=72,gpus-per-server=2,dragonfly=2,4,2,radix=16 --traffic pattern:permutation --engine spray
draw groups route dragonfly:gpus=1056,radix=16 --traffic pattern:shift,by=4 --engine spray --view pod
draw domains build rail-spine:gpus=576,gpus-per-server=4,domain=72,radix=64
draw largest build rail-spine:gpus=65536,radix=64
[[ $(stat -c %s largest.svg) -lt 300000 ]] || fail "a drawing of 65,536 GPUs has $(stat -c %s largest.svg) bytes"
grep -q 'every switch; servers behind the same leaves' two-tiers.svg || fail "64 leaves are merged"
grep -q '×2.00' big.svg || fail "the drawing does not tell the worst factor"
if [[ -n $chromium ]]; then
  "$python" "$here/check_drawing.py" "$chromium" "${drawings[@]}" || fail "texts of drawings"
  sed 's/<text class="r" x="20"/<text class="r" x="-20"/' small.svg >outside.svg
  ! "$python" "$here/check_drawing.py" "$chromium" outside.svg >/dev/null 2>&1 || fail "a text outside is not found"
else
  echo "chromium is not installed: texts of drawings are not measured"
fi

# --- memory: a graph on its way costs nothing per node or cable but its place in the picture ---
peak() { # of a run, in MiB
  "$program" "$@" 2>&1 >/dev/null | sed -nE 's/.*, ([0-9]+)[.0-9]* MiB peak.*/\1/p'
}
plain=$(peak build rail-spine:gpus=16384,radix=64)
for format in graphml gexf dot; do
  with=$(peak build rail-spine:gpus=16384,radix=64 --format $format)
  [[ $with -le $((plain + 16)) ]] || fail "$format of 16,384 GPUs takes $with MiB, the fabric alone $plain"
done

# --- options ---
expect() { # expect CODE TEXT ARGUMENTS...: exit code, and a text in the message
  local code=$1 text=$2 status=0
  shift 2
  "$program" "$@" >out 2>err || status=$?
  [[ $status == "$code" && ( -z $text || $(cat err) == *"$text"* ) ]] || fail "$*: exit $status, $(head -n 1 err)"
}
tiny=clos:gpus=8,gpus-per-server=1,radix=8
expect 2 "ends in none of .json, .xml, .md, .graphml" build $tiny --export fabric.jpg
expect 2 "given twice" build $tiny --export a.svg --export a.svg
expect 2 "did you mean 'pod'" build $tiny --format svg --view pods
expect 2 "neither --format nor --export asks for a graph" build $tiny --view tier
expect 2 "neither --format nor --export asks for a graph" build $tiny --fail leaf-0
expect 3 "view pod: the fabric has no pods" run $tiny --export none.svg --view pod
[[ ! -e none.svg ]] || fail "a file is left of a view that there is not"
expect 3 "--fail: " build $tiny --format svg --fail leaf-99
expect 0 "svg written to a.svg" build $tiny --export a.svg
expect 5 "exists already; give --force" build $tiny --export a.svg
before=$(cksum <a.svg)
expect 0 "" build $tiny --export a.svg --force --quiet
[[ $before == "$(cksum <a.svg)" ]] || fail "the same fabric is drawn otherwise"
expect 5 "cannot write" build $tiny --export no/such/folder/a.svg
expect 2 "takes the place of the report" route $tiny --explain leaf-0:1 --export b.svg
"$program" build $tiny --format dot --quiet | cmp - <("$program" build $tiny --export c.dot --quiet >/dev/null && cat c.dot) ||
  fail "--format and --export differ"
[[ $("$program" build $tiny --format yed --view server --quiet | grep -c '<y:ShapeNode>') == 9 ]] || fail "8 servers and a switch"

# --- XML reports of every command fit the schema that `schema report` prints ---
"$program" schema report >schemas/report.xsd
report() {
  "$program" "$@" --format xml --quiet >report.xml || { fail "$*"; return; }
  valid report.xsd report.xml || fail "XML of $*: $(head -n 3 xmllint.log)"
}
report run rail-spine:gpus=64,radix=16 --engine ecmp --engine spray --seeds 2 --degrade nic-3=0.5
report run "$root/tests/data/two_jobs.xml" --interference
report build clos:gpus=64,radix=16,floor.rack-power=21kW,floor.hall-power=50kW
report cost rail-spine:gpus=1024 rail-only:gpus=1024
report cost rail-spine:gpus=1024 --steps 256,1024
report route fat-tree:k=4 --traffic pattern:permutation --bound --engine ecmp --engine optimal
report route fat-tree:k=4 --traffic pattern:permutation --engine ecmp --explain leaf-0:3
report route preset:llama3-talk-racks --job servers=0,1,2,4 --advise --advise-budget 4
report sweep clos:gpus=64,radix=16 --vary taper.1=1,2 --engine spray
report place clos:gpus=64,radix=16,pod=32,tiers=3 --engine spray
report mix clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=2 --engine spray
report optimize --gpus 256 --min-bisection 0.5

[[ $failures -eq 0 ]]
