#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz asks for it: compilers and flags from $CC, $CXX, $CFLAGS, $CXXFLAGS, the engine from
# $LIB_FUZZING_ENGINE, sources in $SRC/fabriscope, a place to work in $WORK. $OUT gets every target with its seeds,
# dictionary and options, and below lib/ the shared libraries that a system without packages of ours lacks.
# scripts/check_oss_fuzz runs it here.
root=$SRC/fabriscope
. "$root/tests/fuzz/inputs.sh"
build=$WORK/fabriscope
mapfile -t targets < <(fuzz_targets)
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DFAB_TESTS=ON -DFAB_FUZZ=ON -DFAB_MPI=OFF \
  "-DFAB_FUZZ_ENGINE=$LIB_FUZZING_ENGINE" "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags,-rpath,'\$ORIGIN/lib'" -DCMAKE_SKIP_BUILD_RPATH=ON
cmake --build "$build" --target fabriscope "${targets[@]/#/fuzz_}"
mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  cp "$build/bin/fuzz_$target" "$OUT/"
  (cd "$root/tests/fuzz/corpus/$target" && zip -q -r "$OUT/fuzz_${target}_seed_corpus.zip" .)
  fuzz_dictionary "$target" "$build/bin/fabriscope" >"$OUT/fuzz_$target.dict"
  printf '[libfuzzer]\nmax_len = %s\n' "$(fuzz_longest "$target")" >"$OUT/fuzz_$target.options"
done
# All but what belongs to the C library.
ldd "$OUT"/fuzz_* | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u |
  grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|gcc_s|resolv|stdc\+\+)\.so[^/]*)$' | xargs -r cp -L -t "$OUT/lib"
