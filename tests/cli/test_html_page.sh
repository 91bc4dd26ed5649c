#!/usr/bin/env bash
# report.html in a headless Chromium. Pictures go to the folder artefacts/html beside that of the program.
#
#     test_html_page.sh PROGRAM
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v node >/dev/null; then
  echo "nodejs is not installed: skipped (scripts/setup --tests)"
  exit 77
fi
make() {
  local name=$1
  shift
  "$program" "$@" --out "$work/$name" --quiet >/dev/null || fail "$*"
}
make run run preset:llama3-24k-roce
make jobs run preset:p4d-ultracluster --job plan=given --engine ecmp --engine spray --seeds 3
make route route fat-tree:k=8 --traffic pattern:permutation --engine ecmp --engine adaptive --engine optimal --bound
make lossless route fat-tree:k=8,gpus-per-server=1 --traffic pattern:permutation,bytes=10MB --engine ecmp --transport pfc
make moments run rail-spine:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,pp=4 --engine ecmp --engine spray
make merged run rail-spine:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,pp=4,batch=16384,microbatch=1 --engine ecmp --engine spray
make algorithms sweep clos:gpus=32,gpus-per-server=1,radix=8 --traffic pattern:all-gather,algorithm=all --vary traffic.bytes=16kB,1MB,64MB --engine ecmp --engine spray
make sweep sweep clos:gpus=256,radix=16,pod=64,tiers=3 --vary taper.1=1,2,4 --vary nic=200Gb/s,400Gb/s --engine ecmp --engine spray
make busbw busbw clos:gpus=8,gpus-per-server=4,radix=8,tiers=2,taper=2 --job gpu=h200-141gb --engine ecmp --engine spray --measured "$root/tests/data/busbw/h200.log"
make serving run rail-spine:gpus=64 --job kind=serving,model=llama3-70b,tp=8,batch=120,prefill-replicas=3,request-rate=20 --engine ecmp --engine spray
make ranking run rail-spine:gpus=64 --job kind=ranking,table-sharding=tables --engine ecmp --engine spray
make mix mix clos:gpus=256,radix=16,pod=64,tiers=3 clos:gpus=256,radix=16,pod=64,tiers=3,taper=1/7 --job model=gpt-7.5b,tp=8,batch=512 --ranking model=dlrm-dcnv2,tables=1024 --engine spray
make observe observe clos:gpus=32,gpus-per-server=4,radix=8 --traffic pattern:shift,by=12 --engine dmodk --counters "$root/src/doc/manual/before.csv" "$root/src/doc/manual/after.csv"
make compare compare rail-spine:gpus=512 rail-only:gpus=512 clos:gpus=512,taper=2 clos:gpus=1024 --engine ecmp --engine spray
make cost cost rail-spine:gpus=32768,domain=256 rail-only:gpus=32768,domain=256
make growth cost rail-only:gpus=1024,radix=32 --steps 256,512,1024
make failures run clos:gpus=64,radix=16,spares=1 --job model=gpt-1.7b,tp=2,memory-check=off --fail server-2
make audit audit "$root/src/doc/manual/cluster.net"
{ # hosts behind two leaves each, but for one behind one
  echo 'A-node,A-port,Z-node,Z-port'
  for leaf in 0 1 2 3; do
    for i in 0 1; do
      echo "leaf-$leaf,$((10 + i)),spine-$i,$leaf"
      echo "host-$((2 * leaf + i)),1,leaf-$leaf,$i"
      echo "host-$((2 * leaf + i)),2,leaf-$(((leaf + 1) % 4)),$((2 + i))"
    done
  done
} | grep -v '^host-5,2,' >"$work/single.csv"
make choices audit "$work/single.csv"
{ # a plan with racks, and what is missing beside it: cables of a leaf, and a server
  echo 'rail-spine:gpus=512,radix=32,floor.servers-per-rack=4,floor.racks-per-row=6' >"$work/design"
  "$program" build "$(cat "$work/design")" --format cables --quiet | grep -vE '^(leaf-9,2[0-4],|leaf-3,17,|server-45 )' >"$work/racks.csv"
}
make unruled audit "$root/tests/data/sites/slurm"
make diff diff preset:llama3-talk-racks --engine pinned --before servers=0,1,2,3 --after servers=0,1,2,4
make warned build clos:gpus=256,radix=32,tiers=2,taper=2/1/4
make traffic traffic preset:llama3-24k-roce
mkdir "$work/study" "$work/explain"
"$program" route preset:llama3-talk-racks --job servers=0,1,2,4 --traffic job:dp-rs --engine pinned --explain leaf-0:17 --format html --quiet \
  >"$work/explain/report.html" || fail "the page of a link"
"$(dirname "$program")/study_page" >"$work/study/report.html" || fail "the page of a study"
mkdir "$work/histories"
"$program" study clos:gpus=64,radix=16 --scenarios time:30d@20 --policy none,shrink --store "$work/store" --quiet >/dev/null || fail "histories"
"$program" study show --store "$work/store" --variant 2 --format html --quiet >"$work/histories/report.html" || fail "the page of histories"
make place place clos:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,n-servers=4 --engine ecmp
make plan plan clos:gpus=64,radix=16 --job model=gpt-1.7b
make optimize optimize --gpus 256
make build build rail-spine:gpus=512,radix=32,planes=2
make import import "$root/src/doc/manual/cluster.net"
make validate validate llama3-talk
make racks audit "$work/racks.csv" --against "$(cat "$work/design")" --picture audit
"$program" audit "$work/racks.csv" --against "$(cat "$work/design")" --export "$work/racks/audit.svg" --quiet >/dev/null || fail "the drawing of an audit"
make alone run clos:gpus=512,taper=2 --job model=gpt-39.1b --engine ecmp --engine spray
code=0
for part in looks page reports; do
  node "$root/tests/web/test_$part.mjs" "$(dirname "$program")/../artefacts/html" "$work" || code=$?
done
node --test-concurrency=1 "$root/tests/web/test_timeline.mjs" "$(dirname "$program")/../artefacts/html" "$work" || fail "the time machine"
node --test-concurrency=1 "$root/tests/web/test_walk.mjs" "$program" "$(dirname "$program")/../artefacts/html" "$work" || fail "three clicks"
[[ $code -ne 77 || $failures -gt 0 ]] || exit 77
[[ $code -eq 0 && $failures -eq 0 ]]
