#!/usr/bin/env bash
# Reports of every command: JSON and XML fit their schemas, every table as CSV has the figures of JSON,
# and Markdown the words of the text.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
"$program" schema result >schema.json
"$program" schema report >report.xsd
cat >validate.py <<'END'
import json, sys
import jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
for path in sys.argv[1:]:
    jsonschema.Draft202012Validator(schema).validate(json.load(open(path)))
END

count=0
compared() { # compared ARGUMENTS...: the report of these in report$count
  local folder=report$count
  "$program" "$@" --quiet --format csv --table all >"$folder/all.csv" || fail "$*: --table all"
  "$python" "$root/tests/cli/check_tables.py" "$folder/report.json" "$folder/all.csv" "$folder/report.md" "$folder/report.txt" >log 2>&1 ||
    fail "$*: $(tail -n 1 log)"
}
check() { # check ARGUMENTS...: one run writes all formats
  local folder=report$((count += 1))
  "$program" "$@" --quiet --out $folder >text || fail "$*"
  mv text $folder/report.txt
  compared "$@"
}
check_printed() { # check_printed ARGUMENTS...: the same of what each format prints
  local folder=report$((count += 1)) suffix
  mkdir $folder
  for suffix in json xml md txt; do
    "$program" "$@" --quiet --format "$(case $suffix in md) echo markdown ;; txt) echo text ;; *) echo $suffix ;; esac)" >$folder/report.$suffix || fail "$*: $suffix"
  done
  compared "$@"
}

small=clos:gpus=32,radix=16
job=model=gpt-1.7b,tp=2,memory-check=off
check build $small,floor.rack-power=41kW
check_printed build $small,floor.rack-power=41kW
for name in json xml md txt; do
  cmp report1/report.$name report2/report.$name || fail "what is printed is not report.$name of --out"
done
check cost $small rail-spine:gpus=16,radix=16
check cost clos:gpus=64,radix=16 --steps 32,64
check traffic $small --job $job
check traffic fat-tree:k=4 --traffic pattern:ring
check run $small --job $job --engine ecmp --engine spray --degrade nic-3=0.5 --fail nic-5 --policy none
check run "$root/tests/data/two_jobs.xml" --set job.a.tp=auto --set job.a.dp=auto --set job.b.tp=auto --set job.b.n-servers=4 --engine ecmp --engine spray
check run $small --job $job,offload=optimizer --seeds 3
check route fat-tree:k=4 --traffic pattern:permutation --engine ecmp --engine ecmp,qp=4 --bound
check_printed route fat-tree:k=4 --traffic pattern:permutation --engine ecmp,qp=4 --explain 64
check route fat-tree:k=4 --traffic pattern:bisection --seeds 2
check route fat-tree:k=4,gpus-per-server=1 --traffic pattern:permutation,bytes=10MB --transport pfc --seeds 2
check route fat-tree:k=4,gpus-per-server=1 --traffic pattern:permutation,bytes=10MB --transport dcqcn
check route torus:gpus=16,gpus-per-server=1,torus=16,radix=8 --traffic pattern:shift,by=6,bytes=10MB --transport pfc
check route fat-tree:k=4,gpus-per-server=1 --traffic pattern:permutation,bytes=10MB --transport spray-ack
check build $small,taper=1/2
check diff $small $small,taper=4 --job $job --engine ecmp --engine spray
check run $small,host=nccl-efa-h100 --job $job --transport pfc
check route $small --job $job --advise --advise-budget 4
check compare clos:gpus=64,radix=16,prices=today-800g clos:gpus=32,radix=16,taper=2 --engine ecmp --engine spray --seeds 2
check sweep $small --job $job --vary radix=16,3 --vary 'engine=ecmp,qp=2|spray'
check sweep $small --traffic pattern:all-gather,algorithm=all --vary traffic.bytes=1MB,20MB --engine ecmp --seeds 2
check compare rail-only:gpus=32 rail-spine:gpus=32,radix=16 --job model=gpt-7.5b,tp=8,pp=4,memory-check=off --engine ecmp
check compare rail-only:gpus=32 rail-spine:gpus=32,radix=16 --traffic pattern:all-to-all --engine ecmp
check compare $small $small,taper=2 --job model=gpt-1.7b --scenarios time:20d@5 --engine spray
check place $small --job $job
check mix $small $small,taper=2 --ranking model=dlrm-dcnv2,memory-check=off --job $job
check mix $small $small,taper=2 --serving model=gpt-1.7b,tp=2,batch=64,tokens=4 --ranking model=dlrm-dcnv2,memory-check=off --job $job
check run $small --job kind=serving,model=gpt-1.7b,tp=2,batch=64,tokens=4 --engine spray --fail server-0
check run $small --job kind=serving,model=gpt-1.7b,tp=2,batch=60,tokens=4,prefill-replicas=4 --engine spray --fail server-1
check run $small --job kind=ranking,table-sharding=tables,memory-check=off --engine spray
check optimize --gpus 64 --min-bisection 0.5
check optimize --gpus 256 --family clos # at the edge of the catalog
check optimize --gpus 64 --family rail-only # rails that share a network
check optimize --gpus 64 --family clos --objective tokens --job model=gpt-1.7b,recompute=full --replays 3 --scenarios time:30d@5
check optimize --gpus 64 --family clos,rail-only --job model=gpt-1.7b,recompute=full --replays 1
check plan clos:gpus=16,radix=16 --job model=gpt-1.7b,recompute=full --engine spray
check run $small --job model=gpt-1.7b,tp=auto,zero=1 --engine spray
check compare clos:gpus=16,radix=16 clos:gpus=16,radix=16,taper=2 --job model=gpt-1.7b,plan=auto,recompute=full --engine spray
check busbw clos:gpus=8,gpus-per-server=4,radix=8,tiers=2,taper=2 --job gpu=h200-141gb --engine ecmp --measured "$root/tests/data/busbw/h200.log"
check busbw clos:gpus=8,gpus-per-server=1,radix=4,tiers=2,taper=2 --job gpu=h200-141gb --engine ecmp --seeds 2
check busbw preset:dgx-h100-superpod
check validate deepseek
check run preset:dgx-h100-superpod-1su --engine spray
study() { # study STORE SCENARIOS [OPTIONS]: planned, run, gathered and checked
  "$program" study plan $small,spares=1 --job $job --scenarios "$2" --store "$1" --policy none,first-spare "${@:3}" --quiet >/dev/null
  "$program" study run --store "$1" --quiet >/dev/null
  "$program" study gather --store "$1" --quiet >/dev/null
  check study show --store "$1"
}
study servers servers:1
study histories time:30d@30 --policy shrink --set failures.throttle=0.01 --set failures.throttle-halls=0 --set floor.servers-per-rack=2 --set failures.slow-mtbf=100d \
  --set failures.flap-mtbf=100d --set failures.rma-part=0.1 --set failures.infant-factor=2
check route $small --traffic pattern:all-to-all --engine spray --fail 'leaf-0:9 > spine-0:1' --policy none
check route $small --traffic pattern:all-to-all --engine ecmp,flows=estimated
mesh=model=gpt-1.7b,tp=1,cp=1,pp=1,dp-collective=mesh,zero=1,memory-check=off
check compare $small $small,taper=2 --job $mesh --engine ecmp,flows=estimated
check mix $small $small,taper=2 --job $mesh --ranking model=dlrm-dcnv2,memory-check=off --engine ecmp,flows=estimated
check plan $small --job $mesh --engine ecmp,flows=estimated
check optimize --gpus 256 --family clos --objective tokens --job model=gpt-1.7b,tp=1,pp=1,dp-collective=mesh --replays 2 --engine ecmp,flows=estimated
check route $small --traffic pattern:all-to-all,algorithm=rail-aligned --engine spray
for scenarios in links:2@classes update:spine; do
  "$program" study $small --traffic pattern:all-to-all --engine spray --figures p99 --scenarios $scenarios --store "${scenarios%%:*}" --quiet >/dev/null
  check study show --store "${scenarios%%:*}"
done
"$program" build rail-spine:gpus=16,radix=16 --format ibnet >whole.net
sed '/^Switch/,/^$/{/"H-.*#/{x;s/^/x/;/^xxx$/{x;d};x}}' whole.net >missing.net
check audit missing.net
python3 "$root/tests/cli/directors.py" whole link:L02:S1 >director.net
check audit director.net
check audit missing.net --against rail-spine:gpus=16,radix=16,floor.servers-per-rack=1
sed 's/"leaf-1"/"tor-1"/' missing.net >renamed.net
check audit renamed.net --against missing.net
manual=$root/src/doc/manual
still=$(grep '^leaf-3,2,' "$manual/before.csv")
{ sed "s/^leaf-7,4,.*/leaf-7,4,5,5,5,0,1010/; s/^leaf-3,2,.*/${still%,*},1010/" "$manual/after.csv"; echo leaf-99,1,5,5,5,0,1010; } >after.csv # one cleared, one that stands still, one of others
check observe clos:gpus=32,gpus-per-server=4,radix=8 --traffic pattern:shift,by=12 --engine dmodk --counters "$manual/before.csv" after.csv
PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1 "$python" -c 'import flight_dumps; flight_dumps.make("fr", 4, 2, 1, late={3: 1.2}, log=True)'
check observe clos:gpus=8,gpus-per-server=2,radix=4 --traffic file:fr --engine spray --counters "$root/tests/data/faults/even.csv"
check import missing.net
if "$python" -c 'import jsonschema' 2>/dev/null; then
  "$python" -W ignore validate.py report*/report.json >log 2>&1 || fail "$(tail -n 1 log)"
fi
if command -v xmllint >/dev/null; then
  xmllint --noout --nonet --schema report.xsd report*/report.xml >log 2>&1 || fail "$(grep -v 'validates$' log | head -n 3)"
fi

"$python" "$root/tests/cli/check_fields.py" schema.json "$root/tests/cli/fields_not_shown.txt" report*/report.json \
  "$root"/tests/cli/cases/*-json.out >log 2>&1 || fail "$(tail -n 1 log)"

# What is refused, and where a table may go.
fails() { # fails TEXT ARGUMENTS...
  local code=0
  "$program" "${@:2}" >out 2>err || code=$?
  [[ $code -eq 2 && ! -s out ]] && grep -qF -- "$1" err || fail "${*:2}: exit code $code, $(head -n 1 err)"
}
fails 'choose with --table: fabric, fabric.tiers, fabric.floor.boundaries, cost, cost.lines' build $small --format csv
fails "no table 'costs', but fabric, fabric.tiers, fabric.floor.boundaries, cost" build $small --format csv --table costs
fails 'asks for csv' build $small --table cost.lines
fails 'name is empty' build $small --format csv --table=
"$program" build $small --quiet --export bill.csv --table cost.lines >/dev/null
"$program" build $small --quiet --format csv --table cost.lines | cmp - bill.csv || fail "--export differs from standard output"
"$program" build $small --quiet --format csv --table list >names.csv
"$program" build $small --quiet --format csv --table all >all.csv
[[ $(tail -n +2 names.csv | cut -d, -f1) == "$(sed -n 's/^# //p' all.csv)" ]] || fail "--table list names others than --table all has"
while IFS=, read -r table rows columns; do # each alone is what it is among all, with as many rows and columns as the list says
  "$program" build $small --quiet --format csv --table "$table" >alone.csv
  sed -n "/^# $table\$/,/^\$/p" all.csv | sed '1d;/^$/d' | cmp - alone.csv || fail "--table $table differs from the same among all"
  [[ $rows -eq $(($(wc -l <alone.csv) - 1)) && $columns -eq $(head -n 1 alone.csv | tr ',' '\n' | wc -l) ]] || fail "--table list: $table"
done < <(tail -n +2 names.csv)
exit $((failures > 0))
