#!/usr/bin/env bash
# Submits a night of the registry to Slurm: an array of shards, and a merge that depends on it. Call it from cron or scrontab, after noon, UTC:
#
#   30 20 * * *  RIN_REGISTRY_DIR=/shared/registry /shared/rin/nightly.sh
#
#   RIN_REGISTRY_DIR    the directory that rin registry init made, on a file system of all hosts
#   RIN_SHARDS          number of shards (8)
#   RIN                 the binary (rin on the PATH)
#   SBATCH_PARTITION, SBATCH_ACCOUNT ...    as sbatch reads them
#
# Only these variables reach the jobs, because Slurm keeps the environment of a job on its disk. So secrets in registry.yaml are file: or exec:, not env:.
set -euo pipefail
: "${RIN_REGISTRY_DIR:?name the directory of the registry}"
shards=${RIN_SHARDS:-8}
here=$(cd "$(dirname "$0")" && pwd)
export RIN_NIGHT RIN=${RIN:-rin}
RIN_NIGHT=$(date -u -d '12 hours ago' +%F) # a night has the name of the day of its evening
options=(--parsable --export=PATH,HOME,RIN,RIN_REGISTRY_DIR,RIN_NIGHT --open-mode=append)

array=$(sbatch "${options[@]}" --array="1-$shards" --output="$RIN_REGISTRY_DIR/night-$RIN_NIGHT-%a.log" "$here/shard.sbatch")
merge=$(sbatch "${options[@]}" --dependency="afterany:${array%%;*}" --output="$RIN_REGISTRY_DIR/night-$RIN_NIGHT.log" "$here/merge.sbatch")
echo "night of $RIN_NIGHT: array ${array%%;*} with $shards shards, merge ${merge%%;*}"
