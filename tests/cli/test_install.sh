#!/usr/bin/env bash
# `cmake --install` into a folder that is then moved: every file is there, none else, and the program, the pages, the
# completions, the schemas and the links of the documents work where the tree has gone.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(dirname "$(dirname "$program")")
cmake --install "$build" --prefix "$work/first" >log 2>&1 || fail "cmake --install: $(tail -n 3 log)"
[[ ! -e $build/bin/fabriscope-mpi ]] || with_mpi=true
mkdir "moved away"
mv first "moved away/tree"
tree="$work/moved away/tree"

{
  echo bin/fabriscope
  echo bin/fabriscope-study-slurm
  if [[ -n ${with_mpi-} ]]; then
    printf '%s\n' bin/fabriscope-mpi bin/fabriscope-study-mpi share/man/man1/fabriscope{-mpi,-study-mpi}.1
  fi
  printf 'share/%s\n' bash-completion/completions/fabriscope zsh/site-functions/_fabriscope fish/vendor_completions.d/fabriscope.fish
  printf 'share/fabriscope/schemas/%s\n' {design,prices,catalog,gpu,published,report}.xsd result.schema.json
  (cd "$root/topologies" && printf 'share/fabriscope/%s\n' presets/*.xml prices/*.xml catalogs/*.xml gpus/*.xml published/*.xml)
  printf 'share/doc/fabriscope/%s\n' README.md CHANGELOG.md LICENSE examples/{two_jobs,front_end}.xml
  (cd "$root/src/doc" && find . -type f -printf 'share/doc/fabriscope/%P\n')
  "$program" help --man | sed -nE 's,^\\fBfabriscope\\-([a-z]+).*,share/man/man1/fabriscope-\1.1,p'
  printf 'share/man/man1/%s.1\n' fabriscope fabriscope-study-slurm fabriscope-study-{plan,run,gather,show}
} | sort >wanted
(cd "$tree" && find . -not -type d -printf '%P\n' | sort) >installed
diff -u wanted installed || fail "other files than wanted"
[[ $(grep -c '^share/man/' wanted) -ge 20 && $(grep -c presets/ wanted) -ge 20 ]] || fail "few files are wanted"

# Nothing in the tree knows where it was built or first installed.
grep -rlF -e "$work/first" -e "$build" "$tree" && fail "names the folder of the build or of the first installation"
if command -v readelf >/dev/null; then
  readelf -d "$tree/bin/fabriscope" | grep -E 'RPATH|RUNPATH' && fail "has a path of libraries"
fi

# The installed programs are hardened, and a program that is not is found out, by every name.
if command -v objdump >/dev/null; then
  "$root/scripts/check_hardening" "$tree"/bin/fabriscope ${with_mpi:+"$tree/bin/fabriscope-mpi"} 2>err || fail "not hardened: $(cat err)"
  echo 'int main(void) { return 0; }' >soft.c
  compiler=$(sed -nE 's/^CMAKE_C_COMPILER:[A-Z]+=//p' "$build/CMakeCache.txt")
  "$compiler" -no-pie -fcf-protection=none -z norelro -z lazy -z execstack -o soft soft.c
  code=0
  "$root/scripts/check_hardening" soft 2>err || code=$?
  [[ $code -eq 1 && $(grep -c '^scripts/check_hardening: soft: no ' err) -eq $(uname -m | grep -q x86 && echo 8 || echo 6) ]] ||
    fail "a program that is not hardened: exit code $code, $(cat err)"
fi

# The program in the moved tree, with nothing in its environment and from another folder, is the one that was built.
installed() {
  env -i "$tree/bin/fabriscope" "$@"
}
mkdir elsewhere
cd elsewhere
for arguments in version 'build preset:hpn-pod' 'cost fat-tree:k=4' 'list presets' 'route fat-tree:k=4 --traffic pattern:permutation --engine ecmp'; do
  read -ra words <<<"$arguments"
  installed "${words[@]}" >out 2>err || fail "$arguments: $(cat err)"
  "$program" "${words[@]}" >wanted 2>/dev/null
  [[ -s out ]] && cmp out wanted || fail "$arguments: prints something else"
done
installed build "$tree/share/fabriscope/presets/llama3-24k-ib.xml" >out 2>err || fail "an installed preset: $(cat err)"
installed run "$tree/share/doc/fabriscope/examples/two_jobs.xml" >out 2>err || fail "an installed example: $(cat err)"
for schema in design prices catalog gpu published report; do
  installed schema $schema | cmp - "$tree/share/fabriscope/schemas/$schema.xsd" || fail "schema $schema"
done
installed schema result | cmp - "$tree/share/fabriscope/schemas/result.schema.json" || fail "schema result"
if command -v xmllint >/dev/null; then
  for kind in design/presets prices/prices catalog/catalogs gpu/gpus published/published; do
    xmllint --noout --nonet --schema "$tree/share/fabriscope/schemas/${kind%/*}.xsd" "$tree/share/fabriscope/${kind#*/}"/*.xml 2>err ||
      fail "${kind#*/}: $(head -n 3 err)"
  done
fi

# The scripts find the program beside them, not another on the PATH.
export PATH=$work/path:$PATH
mkdir "$work/path"
cat >"$work/path/sbatch" <<'END'
#!/bin/sh
cat >>"$SBATCH_LOG"
echo 17
END
chmod +x "$work/path/sbatch"
printf '#!/bin/sh\nexit 1\n' | tee "$work/path/fabriscope" >"$work/path/fabriscope-mpi"
chmod +x "$work/path/fabriscope" "$work/path/fabriscope-mpi"
SBATCH_LOG=$work/batch "$tree/bin/fabriscope-study-slurm" . 2 >out || fail "fabriscope-study-slurm"
grep -qF "$(printf '%q' "$tree/bin/fabriscope") study run" "$work/batch" || fail "fabriscope-study-slurm starts another program"
if [[ -n ${with_mpi-} ]]; then
  printf '#!/bin/sh\nshift 2\necho "$1" >"$MPI_LOG"\nexit 3\n' >"$work/path/mpirun"
  chmod +x "$work/path/mpirun"
  MPI_LOG=$work/mpi "$tree/bin/fabriscope-study-mpi" . 2 && fail "fabriscope-study-mpi hides that mpirun failed"
  [[ $(cat "$work/mpi") == "$tree/bin/fabriscope-mpi" ]] || fail "fabriscope-study-mpi starts another program"
fi
rm -r "${work:?}/path"

# Manual pages: every page and every page that a page refers to.
pages=$tree/share/man/man1
if command -v man >/dev/null; then
  for page in "$pages"/*.1; do
    LC_ALL=C MANPATH=$tree/share/man man --warnings "$(basename "$page" .1)" >out 2>err || fail "man $(basename "$page"): $(cat err)"
    [[ ! -s err ]] || fail "man $(basename "$page"): $(head -n 3 err)"
    grep -q SYNOPSIS out || fail "$(basename "$page"): nothing shown"
  done
fi
sed -nE 's/^\\fB(fabriscope[^ ]*)\\fR\(1\).*/\1/p' "$pages"/*.1 | sed 's/\\-/-/g' | sort -u >referred
[[ -s referred ]] || fail "no page refers to another"
while read -r page; do
  [[ -e $pages/$page.1 ]] || fail "no manual page $page, but another refers to it"
done <referred

# Links between the documents lead to files that are there.
(cd "$tree/share/doc/fabriscope" && grep -roE '\]\([^):# ]+' --include='*.md' . | sed -E 's/:\]\(/ /') >links
[[ $(wc -l <links) -ge 40 ]] || fail "few links in the documents"
while read -r file link; do
  [[ -e $tree/share/doc/fabriscope/$(dirname "$file")/$link ]] || fail "$file: link to $link, which is not installed"
done <links
exit $((failures > 0))
