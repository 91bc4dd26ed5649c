#!/usr/bin/env bash
# Studies as a user runs them: planned, run in shares, gathered, queried; carried elsewhere; interrupted; and every way
# in which a store can be refused.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=rail-spine:gpus=64,gpus-per-server=4,radix=16
study() { "$program" study "$@"; }
plan() { # plan STORE [OPTION...]
  local store=$1
  shift
  study plan $design --scenarios links:2 --engine ecmp --figures loads --store "$store" --quiet "$@"
}
# refused CODE TEXT COMMAND...: it fails so, and says so
refused() {
  local code=0 wanted=$1 text=$2
  shift 2
  "$@" >out 2>err || code=$?
  [[ $code -eq $wanted ]] || fail "$*: exit code $code, not $wanted: $(cat err)"
  grep -qF -- "$text" err || fail "$*: '$text' is not in: $(cat err)"
  [[ ! -s out ]] || fail "$*: prints a result"
}
sql() { # sql DATABASE STATEMENT
  /usr/bin/python3 - "$@" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2].split("; "):
    for row in db.execute(statement):
        print(*row, sep="|")
db.commit()
END
}

# --- plan, run, gather ---
plan one >planned || fail "plan"
grep -q '8,128: links:2, seed 1' planned || fail "plan: $(cat planned)"
plan one | grep '^Planned already' >/dev/null || fail "the same plan again"
study run --store one --threads 2 --quiet >ran || fail "run"
grep -q '^8,128 of 8,128 scenarios are done: 8,128 now, 0 before' ran || fail "run: $(cat ran)"
study run --store one --quiet | grep ': 0 now, 8,128 before' >/dev/null || fail "run again"
study gather --store one --quiet >gathered || fail "gather"
grep -q '^8,128 of 8,128 scenarios gathered from 1 shard' gathered || fail "gather: $(cat gathered)"
[[ $(sql one/results.db 'SELECT count(*), min(scenario), max(scenario) FROM outcome') == '8128|0|8127' ]] || fail "rows"
[[ $(sql one/results.db 'SELECT count(*), count(DISTINCT component) FROM failed') == '16256|128' ]] || fail "failed"
[[ $(sql one/results.db 'SELECT count(*), sum(n_scenarios) FROM by_component') == '128|16256' ]] || fail "by_component"
[[ $(sql one/shard-0-of-1.db 'PRAGMA journal_mode') == wal ]] || fail "shards are not in WAL mode"
bytes=$(($(stat -c %s one/results.db) / 8128))
[[ $bytes -lt 200 ]] || fail "$bytes bytes per scenario"
# what is lost alone and in a pair: scenario i is what the text says it is
sql one/results.db "SELECT scenario FROM failed JOIN component USING (component) WHERE name = 'nic-0:2 > leaf-0:1'" >of_nic
[[ $(wc -l <of_nic) -eq 127 ]] || fail "a link is in $(wc -l <of_nic) pairs"

# --- shares and threads change no byte ---
for case in $(some 1:1 1:8 3:2 7:1 7:8); do
  plan "by-$case" >/dev/null
  for ((i = ${case%:*} - 1; i >= 0; i--)); do
    study run --store "by-$case" --shard $i/${case%:*} --threads ${case#*:} --quiet >/dev/null || fail "run $i of $case"
  done
  study gather --store "by-$case" --quiet >/dev/null
  cmp one/results.db "by-$case/results.db" || fail "shares and threads $case give other results"
done

# --- interrupts, and a second writer ---
study plan rail-spine:gpus=256,gpus-per-server=4,radix=16 --scenarios links:3@100000 --traffic pattern:all-to-all \
  --engine ecmp,qp=4 --figures loads --store long --quiet >/dev/null
for signal in INT:130 TERM:143; do
  "$program" study run --store long --threads 2 >out-long 2>err-long &
  worker=$!
  for ((i = 0; i < 300; i++)); do [[ ! -s long/shard-0-of-1.db.lock ]] || break; sleep 0.1; done
  if [[ $signal == INT:* ]]; then
    refused 5 "is being written by process $worker on " study run --store long
  fi
  for ((i = 0; i < 240; i++)); do # until something is stored
    study gather --store long --partial --quiet >found || fail "a store that is being written cannot be gathered"
    grep -q '^0 of' found || break
    sleep 0.25
  done
  kill -${signal%:*} $worker
  code=0
  wait $worker || code=$?
  [[ $code -eq ${signal#*:} ]] || fail "after SIG${signal%:*} a run exits with $code: $(cat err-long)"
  grep -q 'interrupted; .* of 100,000 scenarios are stored' err-long || fail "SIG${signal%:*}: $(cat err-long)"
  [[ ! -s out-long ]] || fail "an interrupted run prints a result"
  told=$(sed -nE 's/.*interrupted; ([0-9,]+) of.*/\1/p' err-long)
  found=$(study gather --store long --partial --quiet | sed -nE 's/^([0-9,]+) of.*/\1/p')
  [[ $told == "$found" && $found != 0 ]] || fail "told $told scenarios, stored are $found"
done

# The sanitizer that looks at threads has seen them all.
[[ $(basename "$(dirname "$(dirname "$program")")") != tsan ]] || exit $((failures > 0))

# --- a study that is read is not written into ---
for name in results.db plan.db shard-0-of-1.db other; do
  touch one/other
  refused 5 "is read by this run" study show --store one --certificate "one/$name" --force
done
rm one/other

# --- links: nothing of a store is followed elsewhere; a folder may be reached through one ---
plan links >/dev/null
mkdir foreign
for name in shard-0-of-1.db shard-0-of-1.db.lock; do
  ln -s ../foreign/victim "links/$name"
  refused 3 "is a link" study run --store links --quiet
  touch foreign/victim
  refused 3 "is a link" study run --store links --quiet
  [[ $(ls foreign) == victim && ! -s foreign/victim ]] || fail "$name: $(ls -l foreign)"
  rm "links/$name" foreign/victim
done
ln -s links linked
study run --store linked --quiet >/dev/null || fail "a folder that is reached through a link"
mv links/shard-0-of-1.db foreign/moved
ln -s ../foreign/moved links/shard-0-of-1.db
refused 3 "is a link" study gather --store links --quiet
rm links/shard-0-of-1.db
mv foreign/moved links/shard-0-of-1.db
study gather --store linked --quiet >/dev/null && cmp one/results.db links/results.db || fail "gather through a link"
mv links/results.db foreign
ln -s ../foreign/results.db links/results.db
refused 3 "is a link" study show --store links --quiet

# --- other seeds are other draws ---
for seed in 1 2; do
  study plan $design --scenarios links:4@500 --seed $seed --engine ecmp --figures loads --store seed-$seed --quiet >/dev/null
  study run --store seed-$seed --quiet >/dev/null
  study gather --store seed-$seed --quiet >/dev/null
  sql seed-$seed/results.db 'SELECT scenario, name FROM failed JOIN component USING (component) ORDER BY 1, 2' >drawn-$seed
done
! cmp -s drawn-1 drawn-2 || fail "two seeds draw the same"

# --- a store stands alone ---
mkdir home
cd home
"$program" route $design --traffic pattern:shift,by=4 --engine ecmp --dump groups.txt --quiet >/dev/null
"$program" route $design --traffic pattern:shift,by=4 --engine dmodk --dump tables.txt --quiet >/dev/null
printf 'src,dst,bytes\n0,5,1000000\n1,9,2000000\n63,2,3000000\n' >matrix.csv
printf 'scenario,component,left\nfirst,leaf-0:9 > spine-0:1,0.5\nfirst,leaf-0:9 > spine-0:1,0.5\nsecond,spine-1,\nnothing,,\n' >list.csv
files=(study plan $design --traffic file:matrix.csv --scenarios file:list.csv --engine ecmp,tables=groups.txt,qp=2
  --engine file,path=tables.txt --figures loads --quiet)
"$program" "${files[@]}" --store ../files-here >planned || fail "plan with files"
[[ $(grep -c '^  .*\(matrix.csv\|list.csv\|tables.txt\|groups.txt\)' planned) -ge 4 ]] || fail "copies are not told: $(cat planned)"
"$program" "${files[@]}" --store ../files-away >/dev/null
study run --store ../files-here --quiet >/dev/null || fail "run with files"
study gather --store ../files-here --quiet >/dev/null
rm ./*
cd ..
mkdir elsewhere
mv files-away elsewhere/
(cd elsewhere && study run --store files-away --quiet >/dev/null && study gather --store files-away --quiet >/dev/null) ||
  fail "a store that was moved does not run"
cmp files-here/results.db elsewhere/files-away/results.db || fail "a store that was moved gives other results"
[[ $(sql files-here/results.db 'SELECT group_concat(name) FROM (SELECT name FROM scenario ORDER BY scenario)') == first,second,nothing ]] ||
  fail "names of scenarios"
[[ $(sql files-here/results.db 'SELECT scenario, count(*), max("left") FROM failed JOIN component USING (component) GROUP BY scenario') == $'0|1|0.5\n1|1|0.0' ]] ||
  fail "components of a list: $(sql files-here/results.db 'SELECT * FROM failed JOIN component USING (component)')"
file=$(sql files-here/plan.db "SELECT name FROM file WHERE given = 'list.csv'")
echo >>files-here/files/$file
refused 3 'is not the copy of' study run --store files-here
mkdir 'a,b'
cp -r elsewhere/files-away 'a,b/'
refused 3 'comma' study run --store a,b/files-away

# --- refused: nothing written, what is there intact ---
refused 2 'needs --store' study run
refused 2 'needs --scenarios' study plan $design --store none
refused 2 'one operand too many' study plan $design --scenarios links:1 --store none extra
refused 3 'no source of scenarios' study plan $design --scenarios comets:1 --store none
refused 3 'front-end' study plan $design --scenarios links:1 --traffic front-end --store none
[[ ! -e none ]] || fail "a plan that is refused leaves a folder"
refused 3 'no such folder' study run --store none
refused 3 'no such folder' study gather --store none
mkdir empty
refused 3 'is no store of a study' study run --store empty
refused 5 'cannot be made' plan missing/folder
mkdir full
echo words >full/notes.txt
refused 5 "'notes.txt'" plan full
cp one/results.db before.db
refused 3 'holds another plan' plan one --seed 2
cmp one/results.db before.db || fail "a refused plan changes the store"
plan gaps >/dev/null
study run --store gaps --shard 1/3 --quiet >/dev/null
refused 3 'scenarios are missing' study gather --store gaps
study gather --store gaps --partial --quiet | grep '^2,710 of 8,128' >/dev/null || fail "partial"
[[ $(sql gaps/results.db 'SELECT n_done FROM gathered') == 2710 ]] || fail "gathered"
cp seed-1/shard-0-of-1.db gaps/
refused 3 'belongs to another plan' study run --store gaps
refused 3 'belongs to another plan' study gather --store gaps --partial
head -c 6000 /dev/urandom >gaps/shard-0-of-1.db
refused 3 'not an SQLite database' study gather --store gaps
refused 3 'Without this file its scenarios are run again' study run --store gaps
study gather --store gaps --partial --quiet >out || fail "one damaged shard, --partial"
grep -q '^2,710 of 8,128' out && grep -q '^1 shard left out: damaged' out || fail "one damaged shard: $(cat out)"
rm gaps/shard-0-of-1.db
tamper() { # tamper STATEMENT TEXT: a changed plan is refused
  rm -rf changed
  cp -r gaps changed
  sql changed/plan.db "$1"
  refused 3 "$2" study run --store changed --shard 0/3
}
tamper "UPDATE plan SET program = '9.9.9'" 'was changed'
tamper 'UPDATE plan SET seed = 7' 'was changed'
tamper "UPDATE plan SET scenarios = 'links:1'" 'was changed'
tamper "UPDATE plan SET design = replace(design, 'fabric.gpus=64', 'fabric.gpus=128')" 'was changed'
tamper "UPDATE variant SET policy = 'same-rack'" 'was changed'
tamper "UPDATE component SET name = 'x' WHERE component = 3" 'was changed'
tamper 'DELETE FROM component WHERE component = 127' 'was changed'
tamper "UPDATE plan SET n_scenarios = 0" 'is damaged'
tamper 'DELETE FROM plan' 'is damaged'
tamper 'DROP TABLE variant' 'is damaged'
tamper 'PRAGMA user_version = 2' 'schema version 2'
tamper 'PRAGMA application_id = 1' 'is no store of a study'
tamper "UPDATE plan SET name = 'x'" 'was changed'
tamper "UPDATE plan SET origin = 'x'" 'was changed'
tamper "UPDATE variant SET label = 'x'" 'was changed'
tamper 'CREATE VIEW more AS SELECT * FROM plan' 'its tables are not those of a study'
falsify() { # falsify STATEMENT TEXT: results that are not as they were gathered
  cp before.db falsified/results.db
  sql falsified/results.db "$1"
  refused 3 "$2" study show --store falsified
}
mkdir falsified
cp one/plan.db falsified/
for change in 'UPDATE outcome SET slowdown = 99 WHERE scenario = 7' 'DELETE FROM failed WHERE scenario = 7' 'UPDATE gathered SET n_done = n_done - 1' \
  'UPDATE by_component SET mean_slowdown = 1 WHERE component = 3' 'UPDATE outcome SET worst_link = NULL'; do
  falsify "$change" 'is not as it was gathered'
done
falsify 'CREATE TABLE other AS SELECT * FROM outcome; DROP TABLE outcome; CREATE VIEW outcome AS SELECT * FROM other' 'its tables are not those of a study'
# nor are results without a digest read as if nobody had changed them
falsify 'CREATE TABLE old AS SELECT n_done FROM gathered; DROP TABLE gathered; CREATE TABLE gathered (n_done INTEGER NOT NULL) STRICT; INSERT INTO gathered SELECT n_done FROM old; DROP TABLE old' 'its tables are not those of a study'
# its folder goes away under it
study plan $design --scenarios links:2 --traffic pattern:all-to-all --figures loads --store gone --quiet >/dev/null
"$program" study run --store gone --quiet >out 2>err &
worker=$!
for ((i = 0; i < 6000; i++)); do [[ ! -s gone/shard-0-of-1.db.lock ]] || break; sleep 0.01; done
# the run may write a file between listing and removal
for ((i = 0; i < 100; i++)); do ! rm -rf gone 2>/dev/null || break; done
code=0
wait "$worker" || code=$?
[[ $code -eq 5 ]] && grep -qE 'moved or deleted|cannot|no such' err || fail "a store that was deleted under its run: $code $(cat out err)"

# --- no room ---
plan small >/dev/null
code=0
(ulimit -f 200 && study run --store small --quiet >out 2>err) || code=$?
[[ $code -eq 5 ]] && grep -q 'what was stored before is intact' err || fail "file too large: $code: $(cat err)"
study run --store small --quiet >/dev/null || fail "no room: does not go on"
study gather --store small --quiet >/dev/null
code=0
rm small/results.db
(ulimit -f 300 && study gather --store small --quiet >out 2>err) || code=$?
[[ $code -eq 5 && ! -e small/results.db && ! -e small/results.db.new ]] || fail "gather without room: $code: $(cat err)"
study gather --store small --quiet >/dev/null
cmp one/results.db small/results.db || fail "no room: other results"
mkdir disk
trap 'umount "$work/disk" 2>/dev/null || true; rm -rf "$work"' EXIT
if mount -t tmpfs -o size=400k tmpfs disk 2>/dev/null; then
  plan disk/store >/dev/null || fail "plan on a small disk"
  code=0
  study run --store disk/store --quiet >out 2>err || code=$?
  [[ $code -eq 5 ]] && grep -q 'disk is full' err || fail "a full disk: $code: $(cat err)"
  mount -o remount,size=8m disk || fail "remount"
  study run --store disk/store --quiet >out || fail "a disk that was full: does not go on"
  study gather --store disk/store --quiet >/dev/null || fail "gather on a small disk"
  cmp one/results.db disk/store/results.db || fail "a disk that was full: other results"
  umount disk
else
  echo "no small disk: mount is not allowed here"
fi

# --- every table and column is documented ---
sql one/results.db "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c" | while IFS='|' read -r table column; do
  grep -q "^\`$table\`" "$root/src/doc/study-store.md" || echo "table $table is not documented"
  grep -q "\`$column\`" "$root/src/doc/study-store.md" || echo "column $column of $table is not documented"
done >undocumented
[[ ! -s undocumented ]] || fail "$(cat undocumented)"
exit $((failures > 0))
