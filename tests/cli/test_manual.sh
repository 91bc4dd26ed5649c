#!/usr/bin/env bash
# Every command of the README and the manual, what they show of their output, and the README's picture.
# UPDATE=1 bash tests/cli/test_manual.sh PROGRAM rewrites all of them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
manual=$root/src/doc/manual
mkdir -p bin files/src/doc/manual
ln -s "$program" bin/fabriscope
ln -s "$root/scripts/verify" bin/verify
cp "$manual"/{cluster.net,before.csv,after.csv} "$root"/tests/data/{two_jobs,front_end}.xml files
cp "$manual/cluster.net" files/src/doc/manual
PATH=$PWD/bin:$PATH

# The index names every page and nothing else, and the README leads to it. (Other links: test_documents.sh.)
pages=("$root/README.md")
for page in "$manual"/*.md; do
  [[ $page == */README.md ]] && continue
  pages+=("$page")
  grep -qF "($(basename "$page"))" "$manual/README.md" || fail "the index does not name $(basename "$page")"
done
grep -qF '(src/doc/manual/README.md)' "$root/README.md" || fail "README.md does not lead to the manual"
/usr/bin/python3 "$root/tests/cli/manual.py" "${pages[@]}" || failures=1

# The picture of the README is what its first run draws.
picture=$root/src/doc/pictures/hot-fabric.svg
command=$(sed -n 's/^\$ fabriscope run /fabriscope run /p' "$root/README.md" | head -n 1)
bash -c "$command --export $(printf %q "$work/hot.svg") --quiet" >/dev/null || fail "$command"
[[ -z ${UPDATE-} ]] || cp hot.svg "$picture"
cmp hot.svg "$picture" || fail "the picture of the README is not what '$command' draws"

# Every command of the table of questions that names all its files runs, but for those that a page shows and
# "validate" (test_validate.sh); the largest fabrics are smaller, and two draws for twenty.
sed -nE 's/^\|.*\| `(fabriscope [^`]*)` \|$/\1/p' "$manual/commands.md" | grep -vE 'DESIGN|ibnetdiscover|fabriscope validate' >all
grep -hoE '^\$ fabriscope .*' "${pages[@]}" | sed 's/^\$ //' >shown
grep -vxFf shown all | sed '/^fabriscope run /s/preset:llama3-24k-roce/fat-tree:k=4/; /^fabriscope \(compare\|place\|explore\) /s/gpus=\(512\|1024\)/gpus=128/g; s/--seeds 20/--seeds 2/' >commands
[[ $(wc -l <commands) -ge 20 ]] || fail "few commands in the table of questions"
cd files
while read -r command; do
  bash -c "$command" >out 2>err </dev/null || fail "$command: $(tail -n 3 err)"
  [[ -s out || $command == *' > '* ]] || fail "$command: prints nothing"
done <"$work/commands"
exit $((failures > 0))
