#!/usr/bin/env bash
# Words that are not the field's may not come back, in names or in prose. Usage: scripts/check_words.sh [CHECKOUT]
# A row: the word, an extended regular expression in any case (_ ends a word); what to say instead; where it may stand, a pattern of file:line:text.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

table() {
  cat <<'TABLE'
twins?;equivalence classes, or duplicate phases;[Tt]win[-_ ]port|TWIN_PORT
trips?;path, or path record;round[-_ ]trip
legs?;host segment;
strands?;shard;
lanes?;shard, leaf or walker;reports/wiring/ibnet\.c|src/design/server_shape\.c|src/installed/|port/lane|0043-simulators|topologies/prices
pieces? of (a |the )?(table|next)s?;table chunk;
foreseen?;prefetch;could be foreseen
rerated?;incremental max-min;
fab_moving;rank migration;
hand(s|ed|ing)?[-_ ]over;relay, or give;
handover;relay;
held by;bottlenecked at;
fears?;highest impact;
damages?;impact;damage_(bps|gbps)|data/csv\.c|src/store/|"damage\||and damages it
whole (fabrics?|parts?|cables?);healthy;
plain engines?;modulo engine;
(fab|phase|split|oracle)_clock;phase-time estimator;
fab_(bench|subject|trial);context, prepared phase, run;
fab_site;installed network (fab_network);
a site;installed network;
asked for (more|up to|x%);offered;
make_room;reserve;
TABLE
}

mapfile -t files < <(find src topologies routing reports -name node_modules -prune -o -path reports/web/dist -prune -o \
  -type f \( -name '*.[ch]' -o -name '*.js' -o -name '*.md' -o -name '*.xml' -o -name '*.json' \) -print | grep -v 'src/doc/glossary\.md$' | sort)
for file in ./*.md; do
  [[ -e $file && $file != ./CHANGELOG.md ]] && files+=("${file#./}")
done
problems=0
while IFS=';' read -r word instead allowed; do
  found=$(grep -HniE "(^|[^A-Za-z])($word)([^A-Za-z]|$)" "${files[@]}" || true)
  [[ -n $found && -n $allowed ]] && found=$(grep -vE "$allowed" <<<"$found" || true)
  [[ -z $found ]] && continue
  while IFS= read -r line; do
    echo "$(cut -d: -f1,2 <<<"$line"): not a word of the field ($word); say: $instead" >&2
    problems=$((problems + 1))
  done <<<"$found"
done < <(table)
[[ $problems -eq 0 ]]
