# Sourced by scripts/fuzz and oss-fuzz/build.sh, with $root: what is known of the inputs of a target.

fuzz_targets() { # their names, sorted
  find "$root/tests/fuzz" -maxdepth 1 -name 'fuzz_*.c' -printf '%f\n' | sed 's/^fuzz_//; s/\.c$//' | sort
}

fuzz_longest() { # fuzz_longest TARGET: bytes of an input, at most
  case $1 in
  network | tables | restore) echo 8192 ;;
  units | host_list | words | pipeline) echo 160 ;;
  *) echo 2048 ;;
  esac
}

# fuzz_dictionary TARGET PROGRAM: words of its seeds, and of the schemas that PROGRAM prints where it reads XML or keys of ours.
fuzz_dictionary() {
  local schemas=() schema
  case $1 in
  design | design_xml | restore | options) schemas=(design) ;;
  books) schemas=(prices catalog gpu published) ;;
  esac
  {
    grep -rahoE '[A-Za-z_][A-Za-z0-9_.-]{2,30}' "$root/tests/fuzz/corpus/$1" || true
    for schema in "${schemas[@]}"; do
      "$2" schema "$schema" | grep -oE '(name|value)="[A-Za-z0-9_.-]{2,30}"' | cut -d '"' -f 2
    done
    printf '%s\n' auto 18446744073709551615 4294967296 1e300 -1 Gb/s
  } | sort | uniq -c | sort -k1,1rn -k2 | awk 'NR <= 400 {print "\"" $2 "\""}'
}
