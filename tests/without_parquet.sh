#!/usr/bin/env bash
# A `sudoku` that is built without Parquet, which the tests in Rust have: it refuses such files with what to do instead, and
# writes none. tests/without_parquet.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/sudoku}")
fixtures=$PWD/tests/data/parquet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$fixtures/puzzles.txt" list.txt
cp "$fixtures/pandas.parquet" a.parquet

# The sentence of a command that fails with 2 and writes nothing.
refused() {
  local sentence=$1 said code=0
  shift
  said=$("$program" "$@" 2>&1) || code=$?
  if [[ $code != 2 || $said != "$sentence" || $(echo ./*) != './a.parquet ./list.txt' ]]; then
    printf 'sudoku %s: exit code %d, files %s\n%s\ninstead of\n%s\n' "$*" "$code" "$(echo ./*)" "$said" "$sentence" >&2
    exit 1
  fi
  printf 'sudoku %s: %s\n' "$*" "$said"
}

without='This program was built without Parquet. Build it with --features parquet, or write csv instead.'
refused "$without" solve list.txt -o out.parquet
refused "$without" solve list.txt --format parquet
refused "$without" check list.txt -o out.parquet
refused "$without" rate list.txt -o out.parquet
refused "$without" canon list.txt --format parquet
refused "$without" solutions list.txt -o out.parquet

instead="this program was built without --features parquet. Write it as CSV, such as by\
 pandas.read_parquet('a.parquet').to_csv('puzzles.csv'), and read that."
refused "a.parquet is a Parquet file: $instead" solve a.parquet
refused "a.parquet is a Parquet file: $instead" validate a.parquet
