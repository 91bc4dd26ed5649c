#!/usr/bin/env bash
# Help, manual pages and completions of three shells tell of the same commands and options, and work where the shells
# are installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mapfile -t commands < <("$program" help | sed -nE '/^Commands:/,/^DESIGN/s/^  ([a-z]+).*/\1/p')
[[ ${#commands[@]} -ge 13 ]] || fail "help names ${#commands[@]} commands only"
for shell in bash zsh fish; do
  "$program" help --completion $shell >completion.$shell || fail "no completion for $shell"
done
"$program" help --man >overview
for command in "${commands[@]}"; do
  "$program" help "$command" | sed -nE 's/^  --([a-z-]+).*/\1/p' | sort >help.txt
  [[ -s help.txt ]] || fail "help $command: no option"
  "$program" help "$command" --man >page
  sed -nE 's/^\\fB\\-\\-(.*)\\fR.*/\1/p' page | sed -E 's/\\fR.*//; s/\\-/-/g' | sort >man.txt
  cmp help.txt man.txt || fail "manual page of $command: other options than in help"
  grep -q "^.TP\$" overview && grep -q "^\\\\fB$command\\\\fR" overview || fail "manual page: no command $command"
  grep -E "^ +$command:\*\)" completion.bash | grep -oE ' --[a-z-]+' | sed 's/ --//' | sort -u >bash.txt
  cmp help.txt bash.txt || fail "bash: other options of $command than in help"
  sed -n "/^  $command)\$/,/;;/p" completion.zsh | sed -nE "s/^ +'\*--([a-z-]+).*/\1/p" | sort >zsh.txt
  cmp help.txt zsh.txt || fail "zsh: other options of $command than in help"
  grep "_from $command' -l " completion.fish | sed -E "s/^complete -c fabriscope -n '[^']*' -l ([a-z-]+).*/\1/" | sort >fish.txt
  cmp help.txt fish.txt || fail "fish: other options of $command than in help"
  if command -v man >/dev/null; then
    LC_ALL=C man --warnings -l page >shown 2>warnings || fail "man: $command"
    [[ ! -s warnings ]] || fail "man: $command: $(head -n 3 warnings)"
    grep -q SYNOPSIS shown || fail "man: $command: nothing shown"
  fi
done

# What bash offers behind a line.
cat >offer.bash <<'END'
source completion.bash
COMP_LINE=$1 COMP_POINT=${#1}
_fabriscope
printf '%s\n' "${COMPREPLY[@]}"
END
offers() { # offers LINE WORD...: every word among those offered
  local line=$1 word
  shift
  bash offer.bash "$line" >offered
  for word in "$@"; do
    grep -qxF -e "$word" offered || fail "bash: '$line' does not offer $word but $(head -n 3 offered | tr '\n' ' ')"
  done
}
offers 'fabriscope ' run build help
offers 'fabriscope ro' route
[[ $(bash offer.bash 'fabriscope ro') == route ]] || fail "bash: more than route"
offers 'fabriscope run --eng' --engine
offers 'fabriscope run preset:llama3-24k-roce --job ' model= tp= servers=
offers 'fabriscope diff x --after ' servers= fail= engine=
offers 'fabriscope build x --set ' fabric.family= job.model=
offers 'fabriscope run preset:llama3-24k-roce --engine ' ecmp spray
offers 'fabriscope run preset:llama3-24' llama3-24k-roce
offers 'fabriscope list ' presets engines
offers 'fabriscope explain max_coll' max_collision_factor
offers 'fabriscope run x --format ' json graphml
touch my-design.xml
offers 'fabriscope build my-' my-design.xml
if command -v fish >/dev/null; then
  for pair in 'fabriscope ro|route' 'fabriscope run --eng|--engine' 'fabriscope route x --engine sp|spray' 'fabriscope build preset:llama3-24|preset:llama3-24k-roce'; do
    HOME=$work fish --no-config -c "source completion.fish; complete -C '${pair%|*}'" 2>/dev/null | cut -f 1 >offered
    grep -qxF -e "${pair#*|}" offered || fail "fish: '${pair%|*}' does not offer ${pair#*|} but $(head -n 3 offered | tr '\n' ' ')"
  done
fi
if command -v zsh >/dev/null; then
  # A real zsh in a pseudo-terminal: what stands on the line behind a tabulator.
  cat >offer.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
typeset all= part
await() { # await PATTERN: reads what the shell prints until it is there, a minute at most
  repeat 600; do
    while zpty -r -t shell part; do all+=$part; done
    [[ $all == *$~1* ]] && return 0
    sleep 0.1
  done
  return 1
}
zpty -w shell "PS1='rea''dy> '; autoload -U compinit; compinit -u -D; source ./completion.zsh; unsetopt zle_bracketed_paste"
await 'ready> ' || exit 1
all=
zpty -w -n shell "$1"$'\t'
await "$2" || { print -r -- "$all"; exit 1 }
END
  zsh -n completion.zsh || fail "zsh: syntax"
  zsh -f offer.zsh 'fabriscope ro' 'route' >shown || fail "zsh does not complete the command"
  zsh -f offer.zsh 'fabriscope run --interf' '--interference' >shown || fail "zsh does not complete an option"
  zsh -f offer.zsh 'fabriscope run --engine spr' 'spray' >shown || fail "zsh does not complete an engine"
fi

# Every field of the JSON schema is explained, and nothing else is.
"$program" explain | awk '$1 ~ /^[a-z]/ && NF > 2 { print $1 }' | sort -u >explained
"$program" schema result >schema.json
PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$program" "$root" <<'END' || fail "fields that are explained"
import json
import os
import re
import subprocess
import sys
from drawn import drawn
explained = set(open("explained").read().split())
fields = set()

def walk(node):
    if isinstance(node, dict):
        fields.update(node.get("properties", {}))
        for value in node.values():
            walk(value)
    elif isinstance(node, list):
        for value in node:
            walk(value)

walk(json.load(open("schema.json")))
assert len(fields) > 400, f"{len(fields)} fields only"
assert fields == explained, f"not explained, or in no report: {sorted(fields ^ explained)}"
for field in drawn(sorted(explained)):
    page = subprocess.run([sys.argv[1], "explain", field], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    assert re.search("^Definition  ", page, re.M) and re.search("^Source  ", page, re.M), f"explain {field}: incomplete"
    assert all(len(line.encode()) <= 80 for line in page.splitlines()), f"explain {field} is wider than 80 columns"
    for record in re.findall(r"[0-9]{4}-[a-z-]+\.md", page):
        assert os.path.exists(f"{sys.argv[2]}/src/doc/adr/{record}"), f"explain {field}: there is no {record}"
END
# Words that reports print are explained too, whatever their case.
for word in MFU mfu bubble Collided goodput bisection oversubscription 'taper factor' 'hash factor' hash-factor exposed 'bus bandwidth' busbw; do
  "$program" explain "$word" >page && grep -q '^Definition  ' page || fail "explain $word"
done
code=0
"$program" explain mfu_ration 2>err || code=$?
[[ $code -eq 2 ]] && grep -q "did you mean 'mfu_ratio'" err || fail "explain mfu_ration: $(cat err)"
exit $((failures > 0))
