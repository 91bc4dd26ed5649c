#!/usr/bin/env bash
# scripts/check_layers.sh, which scripts/test runs on this tree, complains of every violation in a copy that has one of each rule.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAIL: $1"
  failures=$((failures + 1))
}

mkdir -p "$work/all/tests"
tar -C "$root" --exclude=node_modules -cf - CMakeLists.txt src topologies routing reports scripts | tar -C "$work/all" -xf -
# For one rule at a time: the module below all others, which keeps every rule by itself (the last check).
mkdir -p "$work/few"/{src,topologies,routing,reports,scripts,tests}
sed -n "/^fab_module(base /,/)/p" "$work/all/CMakeLists.txt" >"$work/few/CMakeLists.txt"
cp -r "$work/all/src/base" "$work/few/src"
fresh() { # fresh all|few
  rm -rf "$work/tree"
  cp -r "$work/$1" "$work/tree"
}
violations=()
violate() { # violate NAME FILE TEXT EXPECTED: appends TEXT to FILE, which is to be complained about
  printf '%s\n' "$3" >>"$work/tree/$2"
  violations+=("$1" "$2" "$4")
}

fresh all
violate "libxml2 outside src/xml" src/base/str.c '#include <libxml/parser.h>' 'libxml2'
violate "igraph outside src/graph" routing/routing_injected.c '#include <igraph/igraph.h>' 'igraph'
violate "GLPK outside src/solve" src/analysis/injected.c '#include <glpk.h>' 'GLPK'
violate "igraph type in a public header" src/graph/include/fab/injected.h 'struct x { igraph_t *graph; };' 'third-party'
violate "topologies knows routing" topologies/injected.c '#include "fab/routing.h"' 'may not include'
violate "routing knows topologies" routing/injected.c '#include "fab/topologies.h"' 'may not include'
violate "reports knows routing" reports/injected.c '#include "fab/routing.h"' 'may not include'
violate "base knows design" src/base/injected.c '#include "fab/design.h"' 'may not include'
violate "a header of no module" src/base/injected.c '#include "fab/nothing.h"' 'no module'
violate "printing library" src/base/str.c 'void f(void) { printf("x"); }' 'prints'
violate "stderr in a library" routing/injected.c 'void f(void) { fputs("x", stderr); }' 'prints'
violate "exit in a library" src/fabric/injected.c 'void f(void) { exit(1); }' 'exits'
violate "environment in a library" src/design/injected.c 'void f(void) { getenv("X"); }' 'environment'
violate "rand in a library" src/traffic/injected.c 'int f(void) { return rand(); }' 'prints'
violate "router outside src/evaluate" src/study/injected.c 'void f(void) { fab_router_new(0, 0, 0, 0, 0); }' 'only src/evaluate'
violate "next hops outside src/evaluate" src/cli/injected.c 'void f(void) { fab_next_hops_new (0, 0, 0, 0); }' 'only src/evaluate'
violate "long file" src/base/injected.c "$(awk 'BEGIN { for (i = 0; i < 601; i++) print "/* line */" }')" '600 lines'
violate "leftover" src/base/injected.c '/* TO''DO later */' 'unfinished'
violate "name" src/base/Injected.c '/* */' 'snake_case'
(cd / && "$root/scripts/check_layers.sh" "$work/tree") >"$work/log" 2>&1 && fail "violations, and no failure"
for ((i = 0; i < ${#violations[@]}; i += 3)); do
  grep -q "${violations[i + 1]}.*${violations[i + 2]}" "$work/log" || { cat "$work/log"; fail "${violations[i]} was not seen in ${violations[i + 1]}"; }
done

fresh few # words that are not the field's, in a name, in prose, in a document
printf 'struct fab_twin''s *x;\n' >>"$work/tree/src/base/str.c"
printf '/* every le''g of a path */\n' >>"$work/tree/routing/injected.c"
printf 'What the fabric is ask''ed for more than.\n' >>"$work/tree/src/base/README.md"
printf '/* a round trip, twin-port optics */\n' >>"$work/tree/src/base/text.c"
(cd / && "$root/scripts/check_words.sh" "$work/tree") >"$work/log" 2>&1 && fail "words, and no failure"
for file in src/base/str.c routing/injected.c src/base/README.md; do
  grep -q "^$file:.*say: " "$work/log" || fail "a word was not seen in $file"
done
grep -q "src/base/text.c" "$work/log" && fail "words that may stand were complained about"

fresh all # one rule of the modules alone is enough to fail
violate "reports knows routing" reports/injected.c '#include "fab/routing.h"' 'may not include'
"$root/scripts/check_layers.sh" "$work/tree" >/dev/null 2>&1 && fail "a module that knows another was not seen"

fresh few # circles: three files may include each other, four may not
for pair in one:two two:three three:one; do
  printf '#include "circle_%s.h"\n' "${pair#*:}" >"$work/tree/src/base/circle_${pair%:*}.h"
done
"$root/scripts/check_layers.sh" "$work/tree" || fail "a circle of three files is allowed"
printf '#include "circle_four.h"\n' >"$work/tree/src/base/circle_three.h"
printf '#include "circle_one.h"\n' >"$work/tree/src/base/circle_four.c"
: >"$work/tree/src/base/circle_four.h"
if "$root/scripts/check_layers.sh" "$work/tree" >"$work/log" 2>&1; then
  fail "a circle of four files was not seen"
fi
grep -q 'circle_one -> .*circle_four.*a circle of includes' "$work/log" || fail "the message does not show the circle"

fresh few
cp "$work/tree/src/base/str.c" "$work/tree/routing/"
"$root/scripts/check_layers.sh" "$work/tree" >/dev/null 2>&1 && fail "two files of one name were not seen"

fresh few
mkdir "$work/tree/lib"
"$root/scripts/check_layers.sh" "$work/tree" >/dev/null 2>&1 && fail "another top-level folder was not seen"

fresh few # what looks like a violation but is none
cat >>"$work/tree/src/base/str.c" <<'TEXT'
/* call exit(1) or printf("x") only
 * in the program: getenv("X") */
static const char *const NOTE = "exit(1) // stderr";
TEXT
"$root/scripts/check_layers.sh" "$work/tree" || fail "comments and strings are not code"

[[ $failures -eq 0 ]]
