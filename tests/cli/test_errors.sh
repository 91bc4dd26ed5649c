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
  grep -qE -e "^fabriscope: $place: .*$text" err || { head -c 600 err; fail "$name: no '$place: ...$text'"; }
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
check "one-line form, thousands" ".+" "gpus: .2k. is not a whole number .*: write 2000 or 2048" build clos:gpus=2k
check "sizes beyond the servers" ".+" "= 256 ranks, but the job has 64 GPUs; dp=8 takes all of them; they need 32 servers, and it has 8" run clos:gpus=64 --job model=llama3-8b,tp=8,pp=1,dp=32
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
[[ $code -eq 3 ]] && grep -qE '^fabriscope: [^:]+:2:[0-9]+: ' err || fail "stdin: exit code $code, $(cat err)"

# files that cannot be read are 5
expect_io() {
  local code=0
  "$program" "$@" >out 2>err </dev/null || code=$?
  [[ $code -eq 5 && ! -s out && $(wc -l <err) -eq 1 ]] || fail "$*: exit code $code, $(cat err)"
}
expect_io run missing.xml
expect_io run ./
expect_io import missing.out
grep -q '^fabriscope: missing.out: cannot be read: No such file' err || fail "import: $(<err)"

# --- words of the field, and where a word belongs ---
check meant-family rail-optimized:gpus=64:1:1 "did you mean 'rail-spine'" build rail-optimized:gpus=64
check meant-key clos:gpus=64,oversubscription=2:1:14 "did you mean 'taper'" build clos:gpus=64,oversubscription=2
check meant-job-key clos:gpus=64,gpu=h100-80gb:1:14 "it is a key of the job: --job gpu=h100-80gb" build clos:gpus=64,gpu=h100-80gb
check meant-gpu clos:gpus=64,gpu=gb200:1:14 "did you mean 'gb200-186gb'. known: a100-40gb" build clos:gpus=64,gpu=gb200
check meant-model-key clos:gpus=64,model=gpt-1t:1:14 "'model' is a key of the job: --job model=VALUE" build clos:gpus=64,model=gpt-1t
check meant-servers clos:servers=13:1:6 "a fabric has gpus; gpus=104 is 13 servers of 8" build clos:servers=13
check meant-nodes clos:gpus-per-server=4,nodes=13:1:24 "a fabric has gpus; gpus=52 is 13 servers of 4" build clos:gpus-per-server=4,nodes=13
check meant-hosts clos:hosts=many:1:6 "a fabric has gpus; gpus=56 is 7 servers of 8" build clos:hosts=many
check meant-port clos:gpus=64,speed=400:1:14 "did you mean 'port'" build clos:gpus=64,speed=400
check meant-count clos:64:1:6 "'64' is not key=value, such as gpus=1024 .a preset is preset:NAME." build clos:64
check meant-engine --engine "did you mean 'ecmp'" route clos:gpus=64 --engine ECMP
check meant-engine-option --engine "did you mean 'qp'" route clos:gpus=64 --engine ecmp,qps=4
check meant-model --job "did you mean 'llama2-70b'" run clos:gpus=64 --job model=llama-70b
check meant-traffic allreduce "did you mean pattern:all-reduce" route clos:gpus=64 --traffic allreduce
check meant-pattern pattern:allreduce "did you mean 'all-reduce'" route clos:gpus=64 --traffic pattern:allreduce
check meant-pattern-key pattern:ring,size=1GB "did you mean 'bytes'" route clos:gpus=64 --traffic pattern:ring,size=1GB
check meant-scenarios --scenarios "did you mean 'links'" study plan clos:gpus=64 --scenarios cables:1 --store meant
check filled clos:gpus=100:1:11 "do not fill servers of 8: the last one would hold 4; 104 GPUs" build clos:gpus=100
check grouped clos:gpus=2,048:1:13 "in a number write no commas" build clos:gpus=2,048
check short-rate clos:gpus=64,nic=400G:1:18 "write 400Gb/s for bits, 400GB/s for bytes" build clos:gpus=64,nic=400G

# --- jobs that contradict themselves, or say too little ---
job() { # job SETTINGS TEXT
  check "job $1" --job "$2" run clos:gpus=64 --job "$1"
}
own=layers=8,hidden=1024,heads=8,seq=512,vocab=32000,batch=32
job layers=8 "hidden is missing"
job layers=8,hidden=1024 "heads is missing"
job layers=8,hidden=1024,heads=8 "seq is missing"
job layers=8,hidden=1024,heads=8,seq=512 "vocab is missing"
job layers=8,hidden=1024,heads=8,seq=512,vocab=32000 "batch is missing"
job $own,kv-heads=3 "kv-heads 3"
job model=llama3-8b,heads=7 "hidden 4096 does not divide by heads 7"
job $own,pp=4,stage-layers=2:2:2:3 "lists 4 stages of 9 layers; pp is 4, the model has 8"
job $own,pp=4,stage-layers=4:4 "lists 2 stages of 8 layers; pp is 4"
job $own,pp=4,stage-layers=2:0:2:4 "stage 1 has no layer"
job $own,pp=4,stage-layers=2:2:2:2,embedding-as-layer=yes "embedding-as-layer spreads them itself"
job $own,pp=4,stage-layers=1:3:2:2,interleave=2 "interleave 2 leaves chunks empty: a stage has 1"
job model=llama3-8b,pp=1,interleave=2 "interleave 2 needs pp of at least 2"
job model=llama3-8b,pp=16,interleave=4 "needs as many layers, the model has 32"
job model=llama3-8b,pp=4,interleave=2,schedule=zero-bubble "schedule zero-bubble has one chunk per stage"
job kind=serving,model=llama3-8b,pp=2,interleave=2 "serving is modelled with one chunk per stage only"
job kind=serving,model=llama3-8b,lora-rank=8 "lora-rank is modelled in training only"
job kind=serving,model=llama3-8b,shard-over=8 "shard-over is modelled in training only"
job model=llama3-8b,tp=8,shard-over=domain "shard-over domain: zero 0 shares nothing"
job model=llama3-8b,precision=int8 "int8 is for serving"
job model=mixtral-8x7b,ep=3 "experts 8 does not divide by ep 3"
job kind=ranking,tables=8 "rows is missing"
job kind=ranking,tables=8,rows=100 "embedding is missing"
job kind=ranking,tables=8,rows=100,embedding=8 "dense-parameters is missing"
job kind=ranking,tables=8,rows=100,embedding=8,dense-parameters=1000000 "batch is missing"
job servers=3,3 "server 3 is listed twice"
job servers=9 "no server 9; the fabric has 8"
job servers=0-7:0 "a stride is at least 1"
job servers=3-1 "the range 3-1 runs backwards"

# --- designs of one line of XML: COLUMN is where it is wrong ---
one() { # one COLUMN TEXT XML
  echo "$3" >one.xml
  check "$3" "one\.xml:1:$1" "$2" run one.xml
}
fabric='<fabric family="clos" gpus="64"/>'
one 54 "level: '9' is not a number from 1 to 8" '<design><fabric family="clos" gpus="64"><tier level="9" radix="64"/></fabric></design>'
one 41 "a tier needs its level" '<design><fabric family="clos" gpus="64"><tier radix="64"/></fabric></design>'
one 1 "unexpected text inside design" "<design>${fabric}words</design>"
one 42 "unexpected text inside job" "<design>$fabric<job id='a'>x</job></design>"
one 54 "no element may stand inside job" "<design>$fabric<job id='a'><x/></job></design>"
one 50 "no element may stand inside source" "<design>$fabric<source><b/></source></design>"
one 42 "has no attribute a" "<design>$fabric<source a='1'>x</source></design>"
one 73 "there is another job 'a'" "<design>$fabric<job id='a' gpus='8'/><job id='a' gpus='8'/></design>"
one 47 "are keys of installed; the family is clos" '<design><fabric family="clos" gpus="64" file="x"/></design>'
one 15 "there is no file 'nothing'" '<design base="nothing"><fabric gpus="64"/></design>'
one 15 "unknown preset ''" '<design base="preset:"><fabric gpus="64"/></design>'
one 1 "has no <fabric> and no base" '<design><job id="a"/></design>'

# --- designs of one line of text, and settings ---
cp "$root/tests/data/sites/cables" .
check no-key clos:=4:1:6 "'=4' is not key=value" build clos:=4
check no-value clos:gpus=:1:11 "gpus: ''" build clos:gpus=
check long-number '\.\.\.1+:1:11' "gpus: '1+" build "clos:gpus=$(printf '1%.0s' {1..400})"
"$program" build "clos:$(printf 'gpus=64,%.0s' {1..600})gpus=64" >out 2>err && fail "long-design: accepted"
grep -qx "fabriscope: a one-line design of 4812 characters; the limit is 4096" err || fail "long-design: $(<err)" build "clos:$(printf 'gpus=64,%.0s' {1..600})gpus=64"
check xgft-short '.*:1:18' "a group has 1 of 2 numbers" build "xgft:gpus=8,xgft=2;2,2;1,2;1;3"
check xgft-group '.*:1:18' "has no group of parents" build "xgft:gpus=8,xgft=2;2,2"
check xgft-long '.*:1:18' "'2,2' has more than 1 numbers" build "xgft:gpus=8,xgft=1;2,2;1"
check installed-gpus '.*:1:23' "gpus: the file has 2 of them" build installed:cables,gpus=8
check installed-spares '.*:1:25' "99 spare servers of 2 leave none to work" build installed:cables,spares=99
check installed-taper '.*:1:24' "the file of an installed fabric decides that" build installed:cables,taper=2
for setting in taper=1 taper.2=1 full-spares=yes planes=1 tiers=2 pod=8 breakout=1 breakout-up=1 down=4; do
  key=${setting%%[=.]*}
  check "installed $setting" "--set $setting" "$key: the file of an installed fabric decides that; leave it out" build installed:cables --set "$setting"
done
check spines '.*:1:24' "unknown fabric key 'spines'; did you mean 'taper'. Spines follow from gpus, radix and taper: about gpus / radix / taper" build clos:gpus=256,radix=32,spines=7
check leaves '.*:1:24' "unknown fabric key 'leaves'; did you mean 'radix'. Leaves follow from gpus, radix and taper" build clos:gpus=256,radix=32,leaves=7
check rails '.*:1:16' "unknown fabric key 'rails'; did you mean 'nics-per-server'. Rails follow from nics-per-server" build clos:gpus=1000,rails=3
check uplinks '--set .*' "unknown path 'uplinks'; did you mean 'taper'" build clos:gpus=256 --set uplinks=8
check bps '.*:1:19' "'400gbps' has the unknown unit 'gbps'; write 400Gb/s" build clos:gpus=256,nic=400gbps
check one-gpu '.*:1:11' "1 GPU does not fill servers of 8" build clos:gpus=1
check installed-nic '--set .*' "nic: the file says 400 Gb/s, so 100 Gb/s has no effect; leave it out" build installed:cables --set nic=100Gb/s
check installed-port '--set .*' "port: the file says 400 Gb/s, so 100 Gb/s has no effect" build installed:cables --set port.1=100Gb/s
check installed-radix '--set .*' "radix: the file of an installed" build "installed:$root/tests/data/sites/ibnetdiscover" --set radix=64
check set-job '--set .*' "the design has no job '2'" build clos:gpus=64 --set job.2.model=llama3-8b
check set-order '--set .*' "order is empty; without the key it is tp-cp-pp-dp" build clos:gpus=64 --set job.order=
check set-id '--set .*' "the id of job 1 is empty" build clos:gpus=64 --set job.id=
check set-path '--set .*' "more than 4 parts" build clos:gpus=64 --set fabric.tier.1.taper.2=2
check set-engine '--set .*' "the design has 0, at most 16 are allowed" build clos:gpus=64 --set engine.2=ecmp
check set-name '--set .*' "300 bytes are more than the limit of 63" build clos:gpus=64 --set "name=$(printf 'n%.0s' {1..300})"
check set-words '--set .*' "is not one of per-link-end" build clos:gpus=64 --set prices.convention=per-mile

# --- what a price book lacks: it names what there is ---
book() { # book TEXT ROWS
  echo "<prices name='own' convention='per-link-end'><source>own</source>$2<energy usd-per-kwh='0.1' pue='1.3'/><life years='5'/></prices>" >own.xml
  check "book: $1" 'clos:gpus=64.*:1:1: own\.xml' "$1" cost clos:gpus=64,radix=16,tiers=2,length=3m --prices own.xml
}
switch="<switch radix='16' rate='400Gb/s' usd='80000' power='1kW'/>"
optics="<transceiver name='DR' rate='400Gb/s' reach='500m' usd='1' power='1W'/>"
copper="<cable medium='DAC' rate='400Gb/s' max-length='1m' usd='5' transceivers='no'/>"
fibre="<cable medium='fibre' usd='4' transceivers='yes'/>"
nic="<nic rate='400Gb/s' usd='1' power='1W'/>"
book "no price for a switch of 16 ports at 400 Gb/s; the book has 32 ports at 400 Gb/s, 64 ports at 200 Gb/s" \
  "<switch radix='32' rate='400Gb/s' usd='1' power='1W'/><switch radix='64' rate='200Gb/s' usd='1' power='1W'/>$optics$fibre$nic"
book "no price for a NIC of 400 Gb/s; the book has 200 Gb/s, 100 Gb/s" \
  "$switch$optics$fibre<nic rate='200Gb/s' usd='1' power='1W'/><nic rate='100Gb/s' usd='1' power='1W'/>"
book "no price for a cable of 400 Gb/s and 3 m; the book has DAC of 400 Gb/s up to 1 m, AOC of any rate up to 2 m, fibre of 200 Gb/s up to any length" \
  "$switch$optics$copper<cable medium='AOC' max-length='2m' usd='5' transceivers='no'/><cable medium='fibre' rate='200Gb/s' usd='5' transceivers='yes'/>$nic"
book "no price for a transceiver of 400 Gb/s over 3 m, which fibre needs" \
  "$switch<transceiver name='DR' rate='400Gb/s' reach='1m' usd='1' power='1W'/>$fibre$nic"

# --- servers as NCCL describes them ---
server() { # server COLUMN TEXT DEVICES
  echo "<system version='1'><cpu numaid='0'>$3</cpu></system>" >server.xml
  check "server: $2" "server\\.xml:1:$1" "$2" explain server:server.xml
}
gpu() { # gpu BUSID SPEED WIDTH INSIDE
  echo "<pci busid='$1' class='0x030200' link_speed='$2' link_width='$3'>$4</pci>"
}
fine=$(gpu a '16 GT/s' 16 "<gpu sm='90'/>")
nic="<pci busid='b' class='0x020700' link_speed='32 GT/s' link_width='16'><nic><net name='m' speed='400000'/></nic></pci>"
server '[0-9]+' "busid 'a' is taken: line 1 has it already" "$fine$fine$nic"
server '[0-9]+' "'fast' is no speed in Mb/s" "$fine${nic/400000/fast}"
server '[0-9]+' "'fast GT/s' is no speed such as" "$(gpu a 'fast GT/s' 16 '')$nic"
server '[0-9]+' "'1.5' is no number of lanes up to 64" "$(gpu a '16 GT/s' 1.5 '')$nic"
server '[0-9]+' "an nvlink without a count" "$(gpu a '16 GT/s' 16 "<gpu sm='90'><nvlink/></gpu>")$nic"
server '[0-9]+' "sm: 'x' is no compute capability" "$(gpu a '16 GT/s' 16 "<gpu sm='x'><nvlink count='2'/></gpu>")$nic"
server '[0-9]+' "'many' is no number of links" "$(gpu a '16 GT/s' 16 "<gpu sm='90'><nvlink count='many'/></gpu>")$nic"
server '[0-9]+' "a GPU or NIC without a busid" "$(gpu '' '16 GT/s' 16 '')$nic"
server 1 "no NIC in it" "$fine"
server '[0-9]+' "more than 64 GPUs or NICs" "$(for i in {1..65}; do gpu "a$i" '16 GT/s' 16 ''; done | tr -d '\n')$nic"

# --- lists of what fails ---
list() { # list NAME PLACE TEXT CONTENT
  printf "$4" >list.csv
  check "list $1" "$2" "$3" study plan clos:gpus=64 --scenarios file:list.csv --store lists
}
check too-many --scenarios "how many of 64 links fail: '0' is outside 1 to 64" study plan clos:gpus=64 --scenarios links:0 --store lists
check no-racks --scenarios "the fabric has no racks" study plan clos:gpus=64 --scenarios racks:1 --store lists
list nameless list.csv:2:1 "the name of a scenario has 1 to 295 bytes" 'scenario,component\n,leaf-0\n'
list wide list.csv:2:1 "4 columns; the header has 2" 'scenario,component\na,leaf-0,x,y\n'
list header list.csv:1:1 "expected the header" 'scenario,what\na,leaf-0\n'
list third list.csv:1:1 "expected the header" 'scenario,component,right\na,leaf-0,1\n'
list short list.csv:1:1 "expected the header" 'scenario\na\n'
list binary '.*list.csv' "byte 0 in line" 'scenario,component\na,leaf-0\0x\n'
echo '{"gpus": 64}' >design.json
check not-a-design design.json:1:1 "a design is XML" build design.json
[[ $failures -eq 0 ]]
