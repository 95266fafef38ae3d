#!/bin/sh
# Solves one shard of INPUT into the folder OUT. The index of the job counts from 0.
#
#   INPUT   the file with all puzzles, plain text
#   OUT     the folder for answers.K-of-N and their manifests
#   SHARDS  the number of shards, N: the job's completions
#   OPTIONS options of `sudoku solve`, the same for all shards [default: none]
#   RESUME  empty where files have other inodes or times of change on another node, as on object stores; there a
#           shard that was killed begins anew [default: --resume]
set -eu
shard=$((JOB_COMPLETION_INDEX + 1))
out=$OUT/answers.$shard-of-$SHARDS
# Options are words, and an empty one is none.
# shellcheck disable=SC2086
exec sudoku solve "$INPUT" --shard "$shard/$SHARDS" -o "$out" --manifest --durable ${RESUME---resume} ${OPTIONS-}
