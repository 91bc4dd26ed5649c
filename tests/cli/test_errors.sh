#!/usr/bin/env bash
# Bad designs of every kind: exit code 3, nothing on stdout, and one line on stderr that begins with file:line:column and
# says what is wrong. Never a crash, never a partial report.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# check NAME PLACE TEXT ARGUMENTS...: PLACE begins the message, TEXT (a pattern) is in it
check() {
  local name=$1 place=$2 text=$3 code=0
  shift 3
  timeout 60 "$program" "$@" >out 2>err </dev/null || code=$?
  [[ $code -eq 3 ]] || fail "$name: exit code $code, not 3"
  [[ ! -s out ]] || fail "$name: stdout is not empty"
  [[ $(wc -l <err) -eq 1 ]] || fail "$name: $(wc -l <err) lines on stderr"
  grep -qE -e "^$place: .*$text" err || { head -c 600 err; fail "$name: no '$place: ...$text'"; }
}

# bad NAME LINE TEXT: the design on stdin, read by run
bad() {
  local name=$1
  cat >"$name.xml"
  check "$name" "$name\.xml:$2:[0-9]+" "$3" run "$name.xml"
}

# The same for what only the builder or a later module sees: it knows the design, not the line.
bad_later() {
  local name=$1
  cat >"$name.xml"
  check "$name" "$name\.xml:[0-9]+:[0-9]+" "$2" run "$name.xml"
}

bad missing-unit 2 "'400'" <<'XML'
<design>
  <fabric family="clos" gpus="64" nic="400"/>
</design>
XML
bad unknown-unit 2 "Gb" <<'XML'
<design>
  <fabric family="clos" gpus="64" nic="400Gb"/>
</design>
XML
bad negative-radix 3 "'?-64" <<'XML'
<design>
  <fabric family="clos" gpus="64">
    <tier level="1" radix="-64"/>
  </fabric>
</design>
XML
bad zero-radix 2 "radix" <<'XML'
<design>
  <fabric family="clos" gpus="64" radix="0"/>
</design>
XML
bad huge-number 2 "gpus" <<'XML'
<design>
  <fabric family="clos" gpus="99999999999999999999999"/>
</design>
XML
bad_later seven-ports "7" <<'XML'
<design>
  <fabric family="clos" gpus="8" gpus-per-server="1" nics-per-server="1" radix="7" tiers="1"/>
</design>
XML
bad_later seven-ports-per-server "7" <<'XML'
<design>
  <fabric family="clos" gpus="64" radix="7"/>
</design>
XML
bad rack-power 3 "10.2 kW.*8 kW" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <floor rack-power="8kW"/>
</design>
XML
bad servers-per-rack 3 "servers-per-rack 6 of 10.2 kW.*41 kW" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <floor servers-per-rack="6" rack-power="41kW"/>
</design>
XML
bad floor-key 3 "attribute of floor 'rack-pwer'; did you mean 'rack-power'" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <floor rack-pwer="41kW"/>
</design>
XML
bad two-floors 4 "one <floor>" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <floor/>
  <floor/>
</design>
XML
bad unknown-attribute 2 "gpu.*did you mean" <<'XML'
<design>
  <fabric family="clos" gpuss="64"/>
</design>
XML
bad unknown-element 3 "jobb" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <jobb id="a"/>
</design>
XML
bad_later unknown-family "tree" <<'XML'
<design>
  <fabric family="tree" gpus="64"/>
</design>
XML
bad duplicate-id 4 "'a'" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <job id="a"/>
  <job id="a"/>
</design>
XML
bad duplicate-attribute 2 "gpus" <<'XML'
<design>
  <fabric family="clos" gpus="64" gpus="128"/>
</design>
XML
bad unknown-engine 3 "nothing" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <engine use="nothing"/>
</design>
XML
bad_later unknown-profile "nothing" <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <prices profile="nothing"/>
</design>
XML
bad_later job-too-large "." <<'XML'
<design>
  <fabric family="clos" gpus="64"/>
  <job id="a" tp="8" pp="8" dp="8"/>
</design>
XML
bad no-fabric 1 "fabric" <<'XML'
<design/>
XML
bad empty 1 "." </dev/null
bad not-xml 1 "." <<'XML'
gpus = 64
XML
bad truncated '[23]' "." <<'XML'
<design>
  <fabric family="clos" gpus=
XML
bad two-roots 2 "." <<'XML'
<design><fabric family="clos" gpus="64"/></design>
<design/>
XML
bad bomb 2 "." <<'XML'
<?xml version="1.0"?>
<!DOCTYPE design [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">]>
<design name="&f;"><fabric family="clos" gpus="64"/></design>
XML
echo SECRET-CONTENT >secret
bad external-entity 1 "." <<'XML'
<!DOCTYPE design [<!ENTITY secret SYSTEM "secret">]>
<design><source>&secret;</source><fabric family="clos" gpus="64"/></design>
XML
if grep -q SECRET err; then fail "the external entity was read"; fi
bad undefined-entity 1 "." <<'XML'
<design name="&nothing;"><fabric family="clos" gpus="64"/></design>
XML

# Control characters of a file never reach the terminal.
printf '<design>\n<fabric family="clos" gpus="64\xc2\x9b"/>\n</design>\n' | bad control 2 "."
printf '<design>\n<fabric family="clos" gpus="64" \x1b[31m/>\n</design>\n' | bad escape 2 "."
if LC_ALL=C grep -q $'\x1b' err; then fail "an escape character reached stderr"; fi
printf '<design name="\xff\xfe"><fabric family="clos" gpus="64"/></design>' | bad not-utf8 1 "."

# 100 MB: text in one element, blanks before the root, one attribute, a million elements, deep nesting
{ printf '<design><source>'; head -c 100000000 /dev/zero | tr '\0' a; printf '</source></design>'; } >text.xml
check text "text\.xml(:[0-9]+:[0-9]+)?" "." run text.xml
rm text.xml
{ head -c 100000000 /dev/zero | tr '\0' ' '; printf '<design/>'; } >blanks.xml
check blanks "blanks\.xml(:[0-9]+:[0-9]+)?" "." run blanks.xml
rm blanks.xml
{ printf '<design name="'; head -c 15000000 /dev/zero | tr '\0' a; printf '"/>'; } | bad attribute 1 "."
{ printf '<design>\n'; awk 'BEGIN { for (i = 0; i < 1000000; i++) print "<job/>" }'; printf '</design>'; } | bad elements '[0-9]+' "."
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "<design>" }' | bad nesting 1 "."

# the same through the other ways in
cp missing-unit.xml design.xml
check "build" 'design\.xml:2:[0-9]+' "'400'" build design.xml
check "cost" 'design\.xml:2:[0-9]+' "'400'" cost fat-tree:k=4 design.xml
check "traffic" 'design\.xml:2:[0-9]+' "'400'" traffic design.xml
check "route" 'design\.xml:2:[0-9]+' "'400'" route design.xml
check "one-line form without a unit" '.+' "'400'" build clos:gpus=64,nic=400
check "one-line form, unknown key" '.+' "gpuss" build clos:gpuss=64
check "one-line form, no GPUs" '.+' "gpus" build clos:radix=64
check "--set without a unit" '.*--set.*' "'400'" build clos:gpus=64 --set fabric.nic=400
check "--set of nothing" '.*--set.*' "nicc" build clos:gpus=64 --set fabric.nicc=400Gb/s
check "--job" '.*--job.*' "'-1'" run clos:gpus=64 --job tp=-1
check "--engine" '.*--engine.*' "qp" run clos:gpus=64 --engine ecmp,qp=0
check "--traffic" '.+' "nothing" route clos:gpus=64 --traffic job:nothing
check "more GPUs than ids" '.+' "16777216" build clos:gpus=100000000

# a price book of the user's
cat >book.xml <<'XML'
<prices name="own" convention="per-link-end">
  <source>own</source>
  <switch radix="64" rate="400Gb/s" usd="80000"/>
</prices>
XML
check "price book" 'book\.xml:3:3' "power" cost clos:gpus=64 --prices book.xml
sed -i 's/rate="400Gb/rate="400/' book.xml
check "price book, a value" 'book\.xml:3:28' "'400/s'" cost clos:gpus=64 --prices book.xml

# a stream instead of a file
code=0
"$program" run - <missing-unit.xml >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -qE '^[^:]+:2:[0-9]+: ' err || fail "stdin: exit code $code, $(cat err)"

# files that cannot be read are 5
expect_io() {
  local code=0
  "$program" "$@" >out 2>err </dev/null || code=$?
  [[ $code -eq 5 && ! -s out && $(wc -l <err) -eq 1 ]] || fail "$*: exit code $code, $(cat err)"
}
expect_io run missing.xml
expect_io run ./
expect_io import missing.out
grep -q '^missing.out: cannot be read: No such file' err || fail "import: $(<err)"

# --- words of the field, and where a word belongs ---
check meant-family rail-optimized:gpus=64:1:1 "did you mean 'rail-spine'" build rail-optimized:gpus=64
check meant-key clos:gpus=64,oversubscription=2:1:14 "did you mean 'taper'" build clos:gpus=64,oversubscription=2
check meant-job-key clos:gpus=64,gpu=h100-80gb:1:14 "a key of the job: --job gpu=VALUE" build clos:gpus=64,gpu=h100-80gb
check meant-engine --engine "did you mean 'ecmp'" route clos:gpus=64 --engine ECMP
check meant-engine-option --engine "did you mean 'qp'" route clos:gpus=64 --engine ecmp,qps=4
check meant-model --job "did you mean 'llama2-70b'" run clos:gpus=64 --job model=llama-70b
check meant-traffic clos:gpus=64:1:1 "did you mean pattern:all-reduce" route clos:gpus=64 --traffic allreduce
check meant-pattern pattern:allreduce "did you mean 'all-reduce'" route clos:gpus=64 --traffic pattern:allreduce
check meant-pattern-key pattern:ring,size=1GB "did you mean 'bytes'" route clos:gpus=64 --traffic pattern:ring,size=1GB
check meant-scenarios --scenarios "did you mean 'links'" study plan clos:gpus=64 --scenarios cables:1 --store meant
check filled clos:gpus=100:1:11 "do not fill servers of 8: the last one would hold 4; 104 GPUs" build clos:gpus=100
check grouped clos:gpus=2,048:1:13 "in a number write no commas" build clos:gpus=2,048
check short-rate clos:gpus=64,nic=400G:1:18 "write 400Gb/s for bits, 400GB/s for bytes" build clos:gpus=64,nic=400G
echo '{"gpus": 64}' >design.json
check not-a-design design.json:1:1 "a design is XML" build design.json
[[ $failures -eq 0 ]]
