#!/usr/bin/env bash
# route --dump and engine file, as an operator calls them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fails() { # fails CODE TEXT ARGUMENTS...: exit code, and what stderr must say
  local code=0
  "$program" "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 ]] || fail "${*:3}: exit code $code, not $1"
  grep -qF -- "$2" err || fail "${*:3}: $(cat err)"
  [[ ! -s out ]] || fail "${*:3}: something on stdout"
}
loads() { # loads ENGINE: what the report says of the links, without the engine's name
  "$program" route fat-tree:k=4 --traffic pattern:shift,by=5 --engine "$1" --quiet | sed -n '/links  /,/^HOW/p'
}

"$program" route fat-tree:k=4 --engine pinned --dump tables --quiet >report
grep -q '^PHASE' report || fail "the report is missing"
[[ $(ls) == $'report\ntables' ]] || fail "left behind: $(ls)"
[[ -n $(loads pinned) && $(loads pinned) == "$(loads file,path=tables)" ]] || fail "other loads after the round trip"
fails 5 "exists already" route fat-tree:k=4 --engine dmodk --dump tables --quiet
"$program" route fat-tree:k=4 --engine dmodk --dump tables --force --quiet >report
[[ $(loads dmodk) == "$(loads file,path=tables)" ]] || fail "--force did not overwrite"
for engine in ecmp ecmp,hash=ideal,qp=4 ecmp,weights=capacity,member-loss=resilient; do
  "$program" route fat-tree:k=4 --engine "$engine" --dump groups --force --quiet >report
  [[ $(loads "$engine") == "$(loads "$engine,tables=groups")" ]] || fail "other loads with the groups of $engine"
done
for engine in spray spray,weights=capacity; do
  "$program" route fat-tree:k=4 --engine "$engine" --dump shares --force --quiet >report
  [[ -n $(loads "$engine") && $(loads "$engine") == "$(loads file,path=shares)" ]] || fail "other loads with the shares of $engine"
done
explain() { # explain ENGINE: who contends for a link, without the engine's name
  "$program" route fat-tree:k=4 --traffic pattern:shift,by=5 --engine "$1" --explain leaf-0:3 --quiet | sed 4d
}
"$program" route fat-tree:k=4 --engine ecmp --dump groups --force --quiet >report
[[ -n $(explain ecmp) && $(explain ecmp) == "$(explain ecmp,tables=groups)" ]] || fail "groups explained differently"
[[ -n $(explain spray) && $(explain spray) == "$(explain file,path=groups)" ]] || fail "shares explained differently"
fails 5 "cannot be read" route fat-tree:k=4 --engine ecmp,tables=missing --quiet
fails 3 "groups:3:1: engine ecmp" route fat-tree:k=6 --engine ecmp,tables=groups --quiet
fails 2 "one --engine" route fat-tree:k=4 --engine dmodk --engine ecmp --dump other --quiet
fails 2 "take the place of the report" route fat-tree:k=4 --engine dmodk --dump - --json --quiet
fails 2 "take the place of the report" route fat-tree:k=4 --engine dmodk --dump - --bound --quiet
fails 2 "name is empty" route fat-tree:k=4 --engine dmodk --dump= --quiet
fails 5 "cannot write" route fat-tree:k=4 --engine dmodk --dump nowhere/tables --quiet
fails 3 "tables:3:1: engine file" route fat-tree:k=6 --engine file,path=tables --quiet
fails 5 "cannot be read" route fat-tree:k=4 --engine file,path=missing --quiet

# Weighted groups that are not minimal, against a count of its own.
python3 "$root/tests/cli/check_groups.py" "$program" >log 2>&1 || fail "weighted groups: $(tail -n 1 log)"

# As a subnet manager dumps them.
"$program" route fat-tree:k=4 --engine updn --dump lfts --dump-format lft --quiet >report
[[ -n $(loads updn) && $(loads updn) == "$(loads file,path=lfts)" ]] || fail "other loads after the round trip of LFTs"
fails 3 "lfts:1:1: engine ecmp" route fat-tree:k=4 --engine ecmp,tables=lfts --quiet
fails 3 "engine ecmp does not choose by the destination alone" route fat-tree:k=4 --engine ecmp --dump other --dump-format lft --quiet
fails 3 "lfts:6:8: engine file: '003' is not where it is plugged in: that is port 5 of leaf-0" route clos:gpus=8,gpus-per-server=1,radix=8 --engine file,path=lfts --quiet
fails 2 "'lfts' is not tables or lft" route fat-tree:k=4 --engine updn --dump other --dump-format lfts --quiet
fails 2 "there is no --dump FILE" route fat-tree:k=4 --engine updn --dump-format lft --quiet
# An adapter that its own leaf does not know: its neighbours there cannot reach it either.
rails=rail-spine:gpus=16,gpus-per-server=4,radix=16
"$program" route $rails --engine dmodk --dump whole --dump-format lft --quiet >report
for nic in 0 4; do
  sed "/^Unicast.*'leaf-0'/,/dumped/{/'server-$((nic / 4)) HCA-$((nic % 4 + 1))'/d}" whole >holed
  fails 4 "to nic-$nic on leaf-0" route $rails --traffic pattern:all-to-all --engine file,path=holed --quiet
done
[[ ! -e other ]] || fail "a dump that failed was left behind"
fails 3 "an InfiniBand switch has 254" build preset:llama3-24k-roce --format ibnet --quiet
for rate in 10=4xSDR 25=1xEDR 40=4xQDR 50=2xEDR 56=4xFDR 100=4xEDR 200=4xHDR 400=4xNDR 800=4xXDR 1200=12xNDR 1600=8xXDR; do
  "$program" build "fat-tree:k=4,nic=${rate%=*}Gb/s" --format ibnet --quiet >net || fail "$rate: no export"
  [[ $(grep -c " ${rate#*=}$" net) -eq 96 ]] || fail "$rate: $(grep -m 1 '^\[' net)"
done
fails 3 "which no width" build fat-tree:k=4,nic=37Gb/s --format ibnet --quiet
exit $((failures > 0))
