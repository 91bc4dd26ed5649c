#!/usr/bin/env bash
# The rules of the layout that the compiler does not check. Usage: scripts/check_layers.sh [CHECKOUT]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
problems=0
complain() {
  echo "$1" >&2
  problems=$((problems + 1))
}

# complain_about TEXT: one complaint per line of stdin
complain_about() {
  local line
  while IFS= read -r line; do
    complain "$line: $1"
  done
}

mapfile -t sources < <(find src topologies routing reports -name node_modules -prune -o -name '*.[ch]' -print | sort)
mapfile -t libraries < <(printf '%s\n' "${sources[@]}" | grep -v '^src/cli/')
mapfile -t headers < <(printf '%s\n' "${sources[@]}" | grep '/include/fab/')

# The code without comments and with empty strings, as file:line:text, lines kept.
bare() {
  perl -0777 -ne '
    s{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/|//[^\n]*)}
     {defined $1 ? "\"\"" : "\n" x ($2 =~ tr/\n//)}gse;
    my $n = 0; print "$ARGV:", ++$n, ":$_\n" for split /\n/;' "$@"
}
# matches PATTERN: place of every line of stdin whose code matches
matches() {
  { grep -E "^[^:]+:[0-9]+:.*($1)" || true; } | cut -d: -f1,2
}

# --- third-party libraries stay in their folder ---
only_in() { # only_in FOLDER INCLUDE-PATTERN NAME
  { grep -nE "^ *# *include *[<\"]$2" "${sources[@]}" /dev/null || true; } | { grep -v "^$1/" || true; } | cut -d: -f1,2 |
    complain_about "only $1 may include $3"
}
complaints=$(
  only_in src/xml libxml/ libxml2 2>&1
  only_in src/base 'zlib|<lzma' 'zlib and liblzma' 2>&1
  only_in src/json jansson Jansson 2>&1
  only_in src/json yaml libyaml 2>&1
  only_in src/graph igraph igraph 2>&1
  only_in src/solve 'glpk' GLPK 2>&1
  only_in src/store 'sqlite3' SQLite 2>&1
  only_in src/cli/top 'n?curses|<term\.h' ncurses 2>&1
  bare "${headers[@]}" | matches '\b(igraph_|glp_|sqlite3_|xml[A-Z])[A-Za-z_0-9]*' |
    complain_about "a public header has a name of a third-party library" 2>&1

  # --- libraries do not print, exit or read the environment, and have no hidden state ---
  bare "${libraries[@]}" | matches '\b(printf|vprintf|puts|putchar|perror|exit|_exit|abort|getenv|setlocale|system|popen|rand|srand|random|strtok)[ ]*\(|\b(stdout|stderr)\b' |
    complain_about "only src/cli prints, exits and reads the environment" 2>&1

  # --- the set-up of a phase under an engine is written once: in src/evaluate ---
  bare "${sources[@]}" | { grep -vE '^(src/evaluate|routing)/' || true; } |
    matches '\bfab_(next_hops_new|dag_new|ports_init|router_new|router_over|baseline_new|clock_new|offer_init|demand_init|bound_find)[ ]*\(' |
    complain_about "only src/evaluate sets up tables, routers and baselines: ask a fab_context" 2>&1

  # --- size, leftovers, names ---
  find src topologies routing reports tests scripts -name node_modules -prune -o -type f \( -name '*.[ch]' -o -name '*.sh' -o -path 'scripts/*' \) \
    ! -name '*.md' -exec wc -l {} + | awk '$1 > 600 && $2 != "total" {print $2 ":" $1}' |
    complain_about "more than 600 lines" 2>&1
  { grep -rnE --exclude-dir=node_modules '\b(TO''DO|FIX''ME|XX''X)\b' src topologies routing reports tests scripts CMakeLists.txt || true; } |
    cut -d: -f1,2 | complain_about "unfinished" 2>&1
  find . -mindepth 1 -maxdepth 1 -type d -printf '%f\n' |
    { grep -vxE 'src|topologies|routing|reports|tests|scripts|build[a-z0-9-]*|\.git|\.ci|\.cache' || true; } |
    complain_about "no such folder at the top level" 2>&1
  printf '%s\n' "${sources[@]}" | { grep -vE '/[a-z][a-z0-9_]*\.[ch]$' || true; } | complain_about "not snake_case" 2>&1
  find src topologies routing reports -name node_modules -prune -o -name '*.c' -printf '%h\n' | sort | uniq -c |
    awk '$1 > 28 {print $2 ": " $1}' | complain_about "more C files in a folder than a reader takes in" 2>&1
  printf '%s\n' "${sources[@]##*/}" | sort | uniq -d | complain_about "name of several files" 2>&1
)

# --- modules include what CMakeLists.txt lets them, public headers only what is passed on ---
module_rules() {
  perl -e '
    my (%dir, %uses, %private, %home);
    open my $cmake, "<", "CMakeLists.txt" or die "CMakeLists.txt: $!\n";
    local $/; my $text = <$cmake>;
    while ($text =~ /^fab_module\((\w+)\s+DIR\s+([^\s)]+)([^)]*)\)/mg) {
      my ($name, $folder, $rest) = ($1, $2, $3);
      $dir{$name} = $folder;
      $uses{$name} = [$rest =~ /(?<!_)USES((?:\s+[a-z]+\b)+)/ ? split(" ", $1) : ()];
      $private{$name} = [$rest =~ /PRIVATE_USES((?:\s+[a-z]+\b)+)/ ? split(" ", $1) : ()];
    }
    die "no modules in CMakeLists.txt\n" unless %dir;
    for my $m (keys %dir) { $home{s{.*/}{}r} = $m for glob "$dir{$m}/include/fab/*.h"; }
    sub reach { my ($seen, @from) = @_; for (@from) { next if $seen->{$_}++; reach($seen, @{$uses{$_} || []}); } $seen }
    my %apart = map { $_ => 1 } "topologies routing", "routing topologies", "reports routing";
    for my $m (sort keys %dir) {
      my $public = reach({}, $m);
      my $all = reach({}, $m, @{$private{$m}});
      for my $file (grep { !m{/node_modules/} } split /\n/, `find $dir{$m} -name "*.[ch]" | sort`) {
        open my $in, "<", $file or die "$file: $!\n";
        my $n = 0;
        for (split /\n/, <$in>) {
          $n++;
          next unless m{^\s*#\s*include\s*"fab/([^"]+)"};
          my $to = $home{$1};
          if (!defined $to) { print "$file:$n: no module has fab/$1\n"; next }
          my $may = $file =~ m{/include/} ? $public : $all;
          print "$file:$n: $m may not include fab/$1 of $to\n" if !$may->{$to} || $apart{"$m $to"};
        }
      }
    }'
}
# --- no circle of includes longer than three files; a .c with its .h is one ---
include_circles() {
  perl -e '
    no warnings "recursion";
    my (%unit, %header, %file, %to, %done);
    my ($longest, @path, %on) = (3);
    for my $f (sort @ARGV) {
      my ($module, $name) = $f =~ m{^((?:src/)?\w+)/(?:.*/)?(\w+)\.[ch]$} or next;
      $unit{$f} = "$module/$name";
      $header{"$name.h"} = $unit{$f} if $f =~ /h$/;
      $file{$unit{$f}} //= $f;
    }
    for my $f (keys %unit) {
      open my $in, "<", $f or die "$f: $!\n";
      while (<$in>) {
        my $h = m{^\s*#\s*include\s*"(?:[^"]*/)?([^"/]+)"} ? $header{$1} : undef;
        $to{$unit{$f}}{$h} = 1 if defined $h && $h ne $unit{$f};
      }
    }
    sub follow { # along includes of what is not done; a path that comes back to where it began is a circle
      my ($v) = @_;
      push @path, $v;
      $on{$v} = 1;
      for my $w (sort keys %{$to{$v}}) {
        if ($w eq $path[0] && @path > $longest) { print "$file{$w}: ", join(" -> ", @path, $w), "\n"; die "found\n" }
        follow($w) if !$on{$w} && !$done{$w} && reaches($w, $path[0], {});
      }
      pop @path;
      $on{$v} = 0;
    }
    sub reaches { # FROM, TO, SEEN: whether there is a way of what is not done
      my ($v, $end, $seen) = @_;
      return 1 if $to{$v}{$end};
      for my $w (keys %{$to{$v}}) {
        return 1 if !$done{$w} && !$on{$w} && !$seen->{$w}++ && reaches($w, $end, $seen);
      }
      return 0;
    }
    for my $v (sort keys %file) {
      (@path, %on) = ();
      eval { follow($v); 1 } or $@ eq "found\n" or die $@;
      $done{$v} = 1;
    }' "${sources[@]}"
}
circles=$(include_circles) || complain "the circles of includes could not be looked for"
[[ -z $circles ]] || complain_about "a circle of includes longer than three files" <<<"$circles"

module_complaints=$(module_rules 2>&1) || complain "the module rules could not be read"
if [[ -n $complaints$module_complaints ]]; then
  complain "$(printf '%s\n%s' "$complaints" "$module_complaints" | sed '/^$/d')"
fi
[[ $problems -eq 0 ]]
