#!/usr/bin/env bash
# A few of the golden cases under valgrind; scripts/check_valgrind runs all of them. A program that reads what was never
# written is found out.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if ! command -v valgrind >/dev/null; then
  echo "valgrind is not installed: skipped" >&2
  exit 77
fi
"$root/scripts/check_valgrind" --sample 3 --program "$program" || fail "findings of valgrind"

cat >bad.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv) {
    volatile char *block = malloc((size_t)argc);
    return argv[0] != NULL && block[0] == 'x' ? 1 : 0;
}
END
if command -v cc >/dev/null; then
  cc -g -O0 bad.c -o bad
  "$root/scripts/check_valgrind" --sample 1 --program "$work/bad" >log && fail "a program that reads what was never written passes"
  grep -q 'uninitialised' log || fail "no finding in a program that has one: $(head -n 3 log)"
fi
exit $((failures > 0))
