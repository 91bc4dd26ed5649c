#!/usr/bin/env bash
# scripts/setup waits for a package manager that is busy, and gives up at once on what waiting does not mend. Programs of
# these names stand before the real ones: nothing is installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir bin
cat >bin/apt-get <<'TEXT'
#!/usr/bin/env bash
# Fails as told by the lines of `answers`, one each time, and then succeeds.
echo "$*" >>calls
answer=$(sed -n 1p answers)
sed -i 1d answers
[[ -z $answer ]] || { echo "E: $answer" >&2; exit 100; }
TEXT
printf '#!/bin/sh\necho not-installed\n' >bin/dpkg-query
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
printf '#!/bin/sh\n' >bin/sleep
chmod +x bin/*

set_up() { # set_up ANSWER...: exit code in $code, messages in `err`
  printf '%s\n' "$@" >answers
  rm -f calls
  code=0
  PATH=$work/bin:$PATH "$root/scripts/setup" >out 2>err </dev/null || code=$?
}
lists='Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)'
dpkg='Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 8 (dpkg)'
set_up "$lists" "$lists" "" "$dpkg" ""
[[ $code -eq 0 && $(wc -l <calls) -eq 5 && $(tail -n 1 calls) == *install* ]] || fail "busy: exit code $code: $(cat err calls)"
[[ $(grep -c 'waiting for it' err) -eq 2 ]] && grep -q 'held by process 8' err || fail "busy: $(cat err)"
set_up "" "Unable to locate package gcc"
[[ $code -eq 1 && $(wc -l <calls) -eq 2 ]] && grep -q 'could not install' err || fail "no such package: exit code $code: $(cat err calls)"
exit $((failures > 0))
