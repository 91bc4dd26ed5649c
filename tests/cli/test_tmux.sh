#!/usr/bin/env bash
# The default report of every command as a terminal shows it, captured in tmux: no line wider than it should be, plain ASCII
# where the locale asks for that, colour only where wanted, progress that comes and goes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v tmux >/dev/null || { echo "tmux is not installed"; exit 77; }
export TMUX_TMPDIR=$work
unset TMUX NO_COLOR LC_ALL LC_CTYPE LANG
trap 'tmux -L fab kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
cp "$root/src/doc/manual/cluster.net" .

# One line each, in an order that stores need. Every command that help names is here, or the test fails.
cat >lines <<'END'
run clos:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,memory-check=off --engine ecmp --engine spray --degrade nic-3=0.5
run clos:gpus=64,radix=16,spares=1 --job model=gpt-1.7b,tp=2,memory-check=off --fail server-2
run ROOT/tests/data/two_jobs.xml --interference
build preset:llama3-24k-roce
build clos:gpus=64,radix=16,floor.rack-power=41kW
cost clos:gpus=64,radix=16 rail-spine:gpus=64
cost clos:gpus=64,radix=16 --steps 32,64
traffic preset:llama3-24k-roce
route fat-tree:k=4 --traffic pattern:permutation --bound --seeds 3
route fat-tree:k=4 --traffic pattern:permutation --explain 60
route clos:gpus=64,radix=16 --traffic pattern:all-reduce,algorithm=all
route preset:llama3-talk-racks --job servers=0,1,2,4 --advise
sweep clos:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,memory-check=off --vary taper.1=1,2,900 --vary engine=ecmp,qp=2,spray,adaptive
compare clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=2 --job model=gpt-1.7b,tp=2,memory-check=off
place clos:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,memory-check=off
mix clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=2 --job model=gpt-1.7b,tp=2,memory-check=off
optimize --gpus 256 --min-bisection 0.5
study plan clos:gpus=64,radix=16,spares=1 --job model=gpt-1.7b,tp=2,memory-check=off --scenarios links:1@40 --policy none,first-spare --store STORE
study run --store STORE
study gather --store STORE
study show --store STORE
audit cluster.net
observe clos:gpus=8,gpus-per-server=2,radix=4 --traffic pattern:ring --engine spray --counters ROOT/tests/data/counters/perfquery
validate bloom
list
list presets
list presets selene-3072
list models
list ranking
list gpus
list families
list engines
list patterns
list scenarios
list prices
list fields
explain
explain max_collision_factor
version
help
help run
help study
diff clos:gpus=16,radix=16 clos:gpus=16,radix=16,taper=2
plan clos:gpus=16,radix=16 --job model=gpt-1.7b
busbw clos:gpus=16,radix=16
import cluster.net
list formats
END
sed -i "s#ROOT#$root#" lines
while read -r command; do
  grep -qE "^$command( |\$)" lines || [[ $command =~ ^(schema|explore|top)$ ]] || fail "no line for command $command"
done < <("$program" help | sed -nE '/^Commands:/,/^DESIGN/s/^  ([a-z]+).*/\1/p')

# show NAME COLUMNS ENVIRONMENT...: all of them in a terminal of so many columns; NAME.plain and NAME.ansi are what it showed
show() {
  local name=$1 columns=$2
  shift 2
  {
    while read -r line; do
      echo "echo '== $line'; '$program' $line --quiet || echo FAILED"
    done < <(sed "s#STORE#store-$name#" lines)
    echo "tmux -L fab wait-for -S $name"
  } | sed -E "s#(' (list|explain|version|help|study plan|study gather).*) --quiet #\1 #" >"$name.sh"
  tmux -L fab new-session -d -s "$name" -x "$columns" -y 50 "env $* sh -c '. ./$name.sh; sleep 60'"
  timeout 120 tmux -L fab wait-for "$name" || fail "$name: not done in time"
  tmux -L fab capture-pane -p -J -S - -t "$name" | sed 's/ *$//' >"$name.plain"
  tmux -L fab capture-pane -p -J -e -S - -t "$name" >"$name.ansi"
  tmux -L fab kill-session -t "$name"
  ! grep -B 3 '^FAILED' "$name.plain" || fail "$name: a command failed"
  [[ $(grep -c '^== ' "$name.plain") -eq $(wc -l <lines) ]] || fail "$name: $(grep -c '^== ' "$name.plain") of $(wc -l <lines) commands were captured"
}

# Longest line that is no echo of a command line, with the command that printed it.
widest() {
  /usr/bin/python3 - "$1" <<'END'
import sys
worst, command, found = 0, "", ""
for line in open(sys.argv[1], encoding="utf-8").read().splitlines():
    if line.startswith("== "):
        command = line
    elif len(line) > worst:
        worst, found = len(line), command
print(worst, found)
END
}

# A server that outlives the sessions, with room for all that scrolls away.
tmux -L fab -f /dev/null new-session -d -s keep 'sleep 600'
tmux -L fab set-option -g history-limit 20000

show utf8 80 LC_ALL=C.UTF-8 TERM=screen-256color
show ascii 80 LC_ALL=C TERM=screen
show dumb 80 LC_ALL=C.UTF-8 TERM=dumb
show colourless 60 LC_ALL=C.UTF-8 TERM=screen NO_COLOR=1
show wide 132 LC_ALL=C.UTF-8 TERM=screen NO_COLOR=1
for name in utf8 ascii dumb colourless; do
  read -r columns command < <(widest "$name.plain")
  [[ $columns -le 80 ]] || fail "$name: $columns columns: $command"
done
read -r columns command < <(widest wide.plain)
[[ $columns -gt 80 && $columns -le 132 ]] || fail "wide: $columns columns: $command"
! LC_ALL=C grep -nE $'[\x80-\xff]' ascii.plain || fail "not ASCII in locale C"
grep -q '█' utf8.plain || fail "no bars in a UTF-8 locale"
grep -q '#' ascii.plain || fail "no bars in ASCII"
escape=$'\x1b\\['
grep -q "$escape" utf8.ansi || fail "no colour on a terminal"
for name in dumb colourless; do
  ! grep -q "$escape" "$name.ansi" || fail "$name: colour: $(grep -m 1 "$escape" "$name.ansi")"
done
# Where the width is 80 whatever the terminal has, the text is the same.
diff <(sed '/per scenario/d; / s wall, /d; s/store-utf8/S/g' utf8.plain) <(sed '/per scenario/d; / s wall, /d; s/store-dumb/S/g' dumb.plain) >log || fail "colour changes the text: $(head -n 4 log)"

# Progress is on the screen while something runs, and gone when it is done.
cat >long.sh <<END
'$program' route fat-tree:k=12 --traffic pattern:permutation --seeds 4000 --threads 1 >out
echo "exit \$?"
END
tmux -L fab new-session -d -s long -x 80 -y 24 "env LC_ALL=C.UTF-8 TERM=screen sh -c '. ./long.sh; sleep 60'"
seen=
for _ in {1..1800}; do
  tmux -L fab capture-pane -p -t long >screen
  if grep -q '^exit' screen; then break; fi
  if grep -qE '^[0-9]+ of 4000 \([0-9]+ %\), .* per second, [0-9]+ s left' screen; then seen=1; fi
  sleep 0.1
done
[[ -n $seen ]] || fail "no progress was shown"
grep -q '^exit 0' screen && ! grep -q 'per second' screen || fail "progress stays: $(<screen)"
[[ -s out ]] && ! grep -q 'per second' out || fail "progress in the output"

# `top` in a terminal of its own: what the pane shows is what the command that it prints reports, whatever size it has.
# top_starts NAME ENVIRONMENT...: with the job of the talk's racks
top_starts() {
  local name=$1
  shift
  echo "trap : INT; '$program' top preset:llama3-talk-racks --engine pinned; echo \"exit \$?\"" >"$name.sh"
  tmux -L fab new-session -d -s "$name" -x 80 -y 24 "env $* sh -c '. ./$name.sh; sleep 60'"
  top_shows "$name" '^iteration 23.65 s   healthy 23.65 s   x1.000$'
}
# top_shows NAME PATTERN: until the pane has such a line, which is then in `screen`
top_shows() {
  for _ in {1..1200}; do
    tmux -L fab capture-pane -p -t "$1" | sed 's/ *$//' >screen
    if grep -qE "$2" screen; then return 0; fi
    sleep 0.05
  done
  fail "$1: no '$2' in: $(<screen)"
}
top_starts top LC_ALL=C.UTF-8 TERM=screen-256color
tmux -L fab send-keys -t top b server-3 Enter
top_shows top '^broken server-3   lost server-3'
cp screen broken
tmux -L fab capture-pane -p -e -t top >broken.ansi
tmux -L fab resize-window -t top -x 50 -y 13
top_shows top 'fullest x2.000 \.\.$'
[[ $(wc -l <screen) -le 13 && $(widest screen) == "50 "* || $(widest screen) == [1-4]?" "* ]] || fail "50x13: $(<screen)"
tmux -L fab resize-window -t top -x 132 -y 40
tmux -L fab send-keys -t top /dp-rs Enter Enter
top_shows top '^links of dp-rs   by load, 1 of' # those of the dead server come first
tmux -L fab send-keys -t top /leaf-0:17 Enter Enter
top_shows top '^flows of dp-rs on .*   by rate here, 1 of'
grep -qE 'this link$' screen || fail "no flow is held by the fullest link: $(<screen)"
tmux -L fab send-keys -t top '?'
top_shows top '^q  *quit'
tmux -L fab send-keys -t top x q
top_shows top '^exit 0'
command=$(grep -m 1 '^fabriscope run' screen)
[[ $command == "fabriscope run preset:llama3-talk-racks --engine pinned --fail server-3 --policy first-spare" ]] || fail "command: $command"
"$program" ${command#fabriscope } --quiet >reported
read -r _ cut collisions fullest time unit slower _ < <(grep -E '^ +first-spare ' reported)
grep -qxE "iteration $time $unit   healthy [0-9.]+ s   $slower" broken || fail "time: $time $unit $slower in: $(<broken)"
grep -qE "^collisions $collisions \(0\)   cut flows $cut   fullest $fullest \(x1.000\) " broken || fail "sums: $(<broken)"
[[ $(sed -n 2p broken) == "pinned,"*", seed 1, policy first-spare" ]] || fail "second line: $(<broken)"
grep -q "${escape}3[14]m\|${escape}1;3[14]m\|;3[14]m" broken.ansi || fail "top has no colour"
top_starts plain LC_ALL=C TERM=screen NO_COLOR=1
tmux -L fab send-keys -t plain b server-3 Enter
top_shows plain '^broken server-3   lost server-3'
tmux -L fab capture-pane -p -e -t plain >plain.ansi
! grep -qE "$escape([0-9;]*;)?[34][0-7]m" plain.ansi || fail "NO_COLOR: $(grep -m 1 "$escape" plain.ansi)"
diff <(sed '/^answered in/d' broken) <(sed '/^answered in/d' screen) || fail "colour and locale change the text of top"
tmux -L fab send-keys -t plain u q
top_shows plain '^exit 0'
grep -qx 'fabriscope run preset:llama3-talk-racks --engine pinned' screen || fail "undo: $(<screen)"
top_starts cut LC_ALL=C.UTF-8 TERM=screen
tmux -L fab send-keys -t cut C-c
top_shows cut '^exit 130'
echo "'$program' top clos:gpus=64; echo \"exit \$?\"" >none.sh
tmux -L fab new-session -d -s none -x 80 -y 24 "env TERM=dumb sh -c '. ./none.sh; sleep 60'"
top_shows none '^exit 2'
exit $((failures > 0))
