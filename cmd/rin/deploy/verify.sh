#!/usr/bin/env bash
# Checks a pull request that adds entries to a registry document, or changes them: each must bring a run of its node. Everything in the run is recomputed, the
# node must be certified, and the entry must have the id and the URLs that were tested. Each refusal has one reason. All inputs come from the environment. The
# GitHub action and the GitLab component call it; other pipelines can, too. It needs rin on the PATH.
#
#   RIN_RUNS             folders of runs (as rin certify leaves them, with the claim of rin sign), one a line
#   RIN_REGISTRY         registry document as the pull request leaves it (file)
#   RIN_REGISTRY_BEFORE  registry document before the pull request (file; missing or empty for a new document)
#   RIN_KEY              public key that must have signed the runs (PEM); without it they need only be consistent. Take it from the branch that the pull request
#                        is for: the pull request could replace it
#   RIN_PROFILE          profile that they must be certified for (any)
set -euo pipefail

runs=${RIN_RUNS:?name the folders of the runs in RIN_RUNS, one a line}
registry=${RIN_REGISTRY:?name the registry document in RIN_REGISTRY, as the pull request leaves it}
before=${RIN_REGISTRY_BEFORE:?name the registry document before the pull request in RIN_REGISTRY_BEFORE}

refused=0
refuse() {
  refused=1
  echo "refused: $1"
  if [ -n "${GITHUB_ACTIONS:-}" ]; then
    local line=$1
    line=${line//'%'/%25} line=${line//$'\r'/%0D} line=${line//$'\n'/%0A}
    echo "::error title=rin verify::$line"
  fi
}
# error returns what a command of rin (first argument) complained about in its output (second), or how it ended (third): a crash says nothing that counts.
error() {
  local why
  why=$(printf '%s\n' "$2" | sed -n 's/^rin: //p' | sed -n '1p')
  printf '%s\n' "${why:-$1 ended with $3}"
}

code=0
changes=$(rin registry changes "$before" "$registry" 2>&1) || code=$?
if [ "$code" -ne 0 ]; then
  refuse "$(error "rin registry changes" "$changes" "$code")"
  exit 1
fi

args=(--no-color --registry "$registry")
if [ -n "${RIN_KEY:-}" ]; then args+=(--key "$RIN_KEY"); fi
entries=$'\n' # that a run is about, one a line
unknown=0     # 1 if it is not known which entry a refused run is about
while IFS= read -r run; do
  if [ -z "$run" ]; then continue; fi
  code=0
  text=$(rin verify "${args[@]}" -- "$run" 2>&1) || code=$?
  said=$(printf '%s\n' "$text" | sed -n 's/^the report says: //p')
  entry=$(printf '%s\n' "$text" | sed -n 's/^the entry is //p')
  certified="Certified for profile ${RIN_PROFILE:-}"
  reason=""
  case $code in
    0) case $said in
         "✓ $certified"* | "$certified"*) ;;
         *) reason="the node must be certified${RIN_PROFILE:+ for profile $RIN_PROFILE}; the report says: $said" ;;
       esac ;;
    1|3) # the first line names step and place, the line below the place says why
      reason=$(printf '%s\n' "$text" | sed -n '1p')
      mark='?'
      case $reason in "does not hold: "*) mark='✗' ;; esac
      why=$(printf '%s\n' "$text" | { grep -m 1 -A 2 -e "^  $mark " || true; } | sed -n '3s/^    *//p')
      reason="$reason${why:+: $why}" ;;
    *) reason=$(error "rin verify" "$text" "$code") ;;
  esac
  # The author of the pull request wrote the run and may make rin crash, so only a good end with an entry is accepted, not the absence of a complaint.
  if [ "$code" -eq 0 ] && [ -n "$entry" ] && [ -z "$reason" ]; then
    echo "accepted: $run: $entry: $said"
  else
    if [ "$code" -eq 0 ]; then ending="rin verify ended with 0 and named no entry"; else ending="rin verify ended with $code"; fi
    refuse "$run: ${reason:-$ending}"
    if [ -z "$entry" ]; then unknown=1; fi
  fi
  if [ -n "$entry" ]; then entries+=$entry$'\n'; fi
done <<< "$runs"

# An entry without a run is refused. If it is not known what a refused run was about, that refusal is the reason that is printed.
while read -r kind entry; do
  case $kind in
    added) what="it was added" ;;
    moved) what="its URLs changed" ;;
    *) continue ;;
  esac
  if [[ $entries == *$'\n'"$entry"$'\n'* ]]; then continue; fi
  if [ "$unknown" -eq 0 ]; then refuse "the entry $entry: $what, and no run in this pull request is about it"; else refused=1; fi
done <<< "$changes"
exit "$refused"
