#!/usr/bin/env bash
# Fuzzes one reader, or each in turn: scripts/fuzz.sh SECONDS [TARGET...]. New inputs stay under build/fuzz; a find is
# written to build/fuzz/finds/TARGET and belongs into tests/fuzz/corpus/TARGET once it is mended.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
  for program in build/fuzz/bin/fuzz_*; do
    targets+=("${program##*/fuzz_}")
  done
fi

for target in "${targets[@]}"; do
  seeds=("tests/fuzz/corpus/$target")
  case $target in
    device_file) seeds+=(models/devices) ;;
    engine_file) seeds+=(models/engines) ;;
  esac
  if [[ -f tests/fuzz/$target.dict ]]; then dictionary=tests/fuzz/$target.dict; else dictionary=tests/fuzz/json.dict; fi
  mkdir -p "build/fuzz/corpus/$target" "build/fuzz/finds/$target"
  echo "fuzz: $target for $seconds s"
  "build/fuzz/bin/fuzz_$target" "build/fuzz/corpus/$target" "${seeds[@]}" -dict="$dictionary" \
    -artifact_prefix="build/fuzz/finds/$target/" -max_total_time="$seconds" -max_len=65536 -timeout=1 \
    -rss_limit_mb=1024 -malloc_limit_mb=64 -print_final_stats=1 2>&1 | grep -E "^(stat::|SUMMARY|==|#.*(DONE|cov:.*pulse))|ERROR|Test unit" | tail -25
done
