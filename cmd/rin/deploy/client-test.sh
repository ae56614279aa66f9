#!/usr/bin/env bash
# Tests a client in a pipeline. All inputs come from the environment. The GitHub action and the GitLab component call it; other pipelines can, too. It
# needs rin on the PATH.
#
#   RIN_COMMAND                     command line of the client, for bash
#   RIN_SCENARIO, RIN_FAIL_ON, RIN_BASELINE, RIN_SPEC, RIN_JUNIT    as the options of rin client-test
set -euo pipefail

command=${RIN_COMMAND:?name the command line of the client in RIN_COMMAND}
args=(--scenario "${RIN_SCENARIO:-all}" --fail-on "${RIN_FAIL_ON:-fault}" --junit "${RIN_JUNIT:-rin-client.xml}" --no-color)
if [ -n "${RIN_BASELINE:-}" ]; then args+=(--baseline "$RIN_BASELINE"); fi
if [ -n "${RIN_SPEC:-}" ]; then args+=(--spec "$RIN_SPEC"); fi
# The client gets its own values of these.
unset RIN_COMMAND RIN_SCENARIO RIN_FAIL_ON RIN_BASELINE RIN_SPEC RIN_JUNIT

result=$(mktemp)
trap 'rm -f "$result"' EXIT
code=0
rin client-test "${args[@]}" -- bash -c "$command" > "$result" || code=$?
cat "$result"

if [ -n "${GITHUB_ACTIONS:-}" ] && [ "$code" -eq 1 ]; then
  echo "::error title=rin::The client breaks rules or loses records; the output of this step says which and where."
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$result" ]; then
  # shellcheck disable=SC2016 # backquotes are meant as they are
  { echo '````text'; head -c 900000 "$result" | sed 's/````/` ` ` `/g'; echo '````'; } >> "$GITHUB_STEP_SUMMARY" # a summary holds 1 MiB
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  printf 'exit-code=%s\n' "$code" >> "$GITHUB_OUTPUT"
fi
exit "$code"
