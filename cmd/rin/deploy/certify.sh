#!/usr/bin/env bash
# Certifies a node in a pipeline. All inputs come from the environment, so that no value of a pipeline is read as a part of a command, and no secret
# stands in a command line. The GitHub action and the GitLab component call it; other pipelines can, too. It needs rin on the PATH.
#
#   RIN_REGISTRY, RIN_NODE, or RIN_TOKEN_URL, RIN_INFO_URL, RIN_SPEC_URL, RIN_BASE_URL    the node
#   RIN_CLIENT_ID, RIN_CLIENT_SECRET, RIN_CLIENT_ID2, RIN_CLIENT_SECRET2                  its clients
#   RIN_PROFILE, RIN_DOCUMENT, RIN_REPORT_DIR                                             as the options of rin certify
#   RIN_FAIL_ON     refused (default): the job fails unless the node is certified; failed: it may be inconclusive; never
set -euo pipefail

dir=${RIN_REPORT_DIR:-rin-report}
args=(--report-dir "$dir" --format 'html,json,junit,markdown,github,gitlab' --no-color)

# option adds an option whose value is in a variable, if that is not empty.
option() { if [ -n "${!2:-}" ]; then args+=("$1" "${!2}"); fi; }
# secret adds an option that names a variable, if that is not empty.
secret() { if [ -n "${!2:-}" ]; then args+=("$1" "env:$2"); fi; }

option --registry RIN_REGISTRY
option --node RIN_NODE
option --token-url RIN_TOKEN_URL
option --info-url RIN_INFO_URL
option --spec-url RIN_SPEC_URL
option --base-url RIN_BASE_URL
option --client-id RIN_CLIENT_ID
secret --client-secret RIN_CLIENT_SECRET
option --client-id2 RIN_CLIENT_ID2
secret --client-secret2 RIN_CLIENT_SECRET2
option --profile RIN_PROFILE
option --document RIN_DOCUMENT

fail_on=${RIN_FAIL_ON:-refused}
case $fail_on in
  refused|failed|never) ;;
  *) echo "RIN_FAIL_ON: expected refused, failed or never, got $fail_on" >&2; exit 2 ;;
esac

code=0
rin certify "${args[@]}" || code=$?

headline=""
if [ -f "$dir/report.md" ] && [ "$code" -ne 2 ]; then
  IFS= read -r headline < "$dir/report.md" || true
fi
if [ -n "${GITHUB_ACTIONS:-}" ] && [ -f "$dir/annotations.txt" ] && [ "$code" -ne 2 ]; then
  cat "$dir/annotations.txt"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -n "$headline" ]; then
  head -c 900000 "$dir/report.md" >> "$GITHUB_STEP_SUMMARY" # a summary holds 1 MiB
fi
badge=""
case $code in
  0) badge=certified colour=brightgreen ;;
  1) badge='not certified' colour=red ;;
  3) badge=inconclusive colour=lightgrey ;;
esac
if [ -n "$badge" ] && [ -d "$dir" ]; then # the endpoint badge of shields.io
  printf '{"schemaVersion":1,"label":"rin","message":"%s %s","color":"%s"}\n' "$badge" "$(date -u +%F)" "$colour" > "$dir/badge.json"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'exit-code=%s\nheadline=%s\nreport-dir=%s\nbadge=%s\n' "$code" "${headline#\# }" "$dir" "$dir/badge.json" >> "$GITHUB_OUTPUT"
fi

case $code in
  0) exit 0 ;;
  1) if [ "$fail_on" = never ]; then exit 0; fi ;;
  3) if [ "$fail_on" = never ] || [ "$fail_on" = failed ]; then exit 0; fi ;;
esac
exit "$code"
