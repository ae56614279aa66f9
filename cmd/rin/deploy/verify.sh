#!/usr/bin/env bash
# Checks the run of a node in a pull request that adds its entry: everything is recomputed, and the node must be certified. Each run that is refused has one
# reason. All inputs come from the environment. The GitHub action calls it; other pipelines can, too. It needs rin on the PATH.
#
#   RIN_RUNS    folders of runs (as rin certify leaves them, with the claim of rin sign), one a line
#   RIN_KEY     public key that must have signed them (PEM); without it they need only be consistent
#   RIN_PROFILE profile that they must be certified for (any)
set -euo pipefail

runs=${RIN_RUNS:?name the folders of the runs in RIN_RUNS, one a line}
args=(--no-color)
if [ -n "${RIN_KEY:-}" ]; then args+=(--key "$RIN_KEY"); fi

refused=0
while IFS= read -r run; do
  if [ -z "$run" ]; then continue; fi
  code=0
  text=$(rin verify "${args[@]}" -- "$run" 2>&1) || code=$?
  said=$(printf '%s\n' "$text" | sed -n 's/^the report says: //p')
  certified="Certified for profile ${RIN_PROFILE:-}"
  reason=""
  case $code in
    0) case $said in
         "✓ $certified"* | "$certified"*) ;;
         *) reason="the node must be certified${RIN_PROFILE:+ for profile $RIN_PROFILE}; the report says: $said" ;;
       esac ;;
    1|3) # the first line names step and place, the line below the place says why
      reason=$(printf '%s\n' "$text" | sed -n '1p')
      why=$(printf '%s\n' "$text" | { grep -m 1 -A 2 -e '^  ✗ ' -e '^  ? ' || true; } | sed -n '3s/^ *//p')
      reason="$reason${why:+: $why}" ;;
    *) reason=$(printf '%s\n' "$text" | sed -n 's/^rin: //p' | sed -n '1p') ;;
  esac
  if [ -z "$reason" ]; then
    echo "accepted: $run: $said"
    continue
  fi
  refused=1
  echo "refused: $run: $reason"
  if [ -n "${GITHUB_ACTIONS:-}" ]; then
    line="$run: $reason"
    line=${line//'%'/%25} line=${line//$'\r'/%0D} line=${line//$'\n'/%0A}
    echo "::error title=rin verify::$line"
  fi
done <<< "$runs"
exit "$refused"
