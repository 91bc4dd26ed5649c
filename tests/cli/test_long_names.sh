#!/usr/bin/env bash
# Names of the greatest length, of designs, jobs and parts, are whole in every sentence of a report, and two long names of
# jobs that differ at their end differ in tables.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

long() { printf "$1%.0s" $(seq $((63 - ${#2}))); printf '%s' "$2"; }
"$program" build clos:gpus=72,radix=16,taper=2 --format ibnet --quiet >short.net
sed -E "s/\"((leaf|spine)-[0-9]+)\"/\"@\1\"/g; s/\"(server-[0-9]+) /\"@\1 /g" short.net |
  /usr/bin/python3 -c 'import re, sys; sys.stdout.write(re.sub(r"@([\w-]+)", lambda m: m[1].rjust(63, "Q"), sys.stdin.read()))' >long.net
sed "s/id=\"\([ab]\)\"/id=\"$(long J -)\1\"/; s/J-\([ab]\)/-\1/; s/two-jobs/$(long D -x)/" "$root/tests/data/two_jobs.xml" >long.xml

whole() { # whole ARGUMENTS...: prints names, all of them to their end
  "$program" "$@" --quiet >out || fail "$*: exit code $?"
  /usr/bin/python3 - "$*" <<'CHECK' || fail "$*: a name is cut"
import re, sys
text = re.sub(r"\\?\n *", "", open("out", encoding="utf-8").read())
names = re.findall(r"(?:Q{20,}|D{20,}|J{20,})[a-z]*-?[0-9a-x]*", text)
cut = [n for n in names if not re.match(r"Q+(leaf|spine|server)-\d|D+-x|J+-[ab]", n)]
assert names and not cut, (len(names), cut[:3])
CHECK
}
job=(--job model=gpt-3.6b,tp=4,batch=504)
server=$(long Q server-3) leaf=$(long Q leaf-0)
sed '0,/"Q*spine-1"/{/"Q*spine-1"/d}' long.net >broken.net
whole audit broken.net
whole import long.net
whole run installed:long.net "${job[@]}" --engine ecmp --engine spray --engine updn
whole run installed:long.net "${job[@]}" --fail "$server" --fail "$leaf"
whole run installed:long.net "${job[@]}" --degrade "$server=0.5"
whole route installed:long.net "${job[@]}" --advise
whole study installed:long.net "${job[@]}" --scenarios switches:1
whole study installed:long.net "${job[@]}" --scenarios links:1
whole run long.xml --interference
whole compare long.xml clos:gpus=64,radix=16
whole sweep long.xml --vary taper.1=1,2
[[ $("$program" run long.xml --quiet | grep -oE 'J+\.\.J+-[ab] ' | sort -u | wc -l) == 2 ]] || fail "two jobs have one name in tables"
exit $((failures > 0))
