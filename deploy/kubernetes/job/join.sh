#!/bin/sh
# Waits for all shards, and joins them into OUT/answers. What an earlier run has left there is noticed, because the
# shards are compared with INPUT as it is now.
#
#   INPUT, OUT, SHARDS  as for shard.sh
#   PAUSE               seconds between two looks [default: 10]
set -eu
set --
shard=1
while [ "$shard" -le "$SHARDS" ]; do
  out=$OUT/answers.$shard-of-$SHARDS
  # The manifest comes before the answers have their name.
  until [ -e "$out.manifest" ] && [ -e "$out" ]; do sleep "${PAUSE:-10}"; done
  set -- "$@" "$out"
  shard=$((shard + 1))
done
exec sudoku join "$@" --input "$INPUT" -o "$OUT/answers" --durable
