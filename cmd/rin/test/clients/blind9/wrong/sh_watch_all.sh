#!/bin/bash
# Watches the list for news: loads it, compares it with the last one, and looks again soon.
set -euo pipefail
umask 077
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
die() { echo "watch: $*" >&2; exit 1; }

ask() { # ask FILE CURL-ARGS...
  local file=$1 try after
  shift
  for try in 1 2 3 4 5 6 7; do
    status=$(curl -sS --max-time 20 -D "$tmp/h" -o "$tmp/$file" -w '%{http_code}' "$@") || die "curl ended with $?"
    case $status in 429 | 503) ;; *) return 0 ;; esac
    after=$(tr -d '\r' < "$tmp/h" | sed -n 's/^retry-after: *//Ip')
    if [[ $after =~ ^[0-9]+$ ]]; then sleep "$after"
    elif [[ -n $after ]]; then after=$(($(date -d "$after" +%s) - $(date +%s))); sleep $((after > 1 ? after : 1))
    else sleep $((2 * try)); fi
  done
}
login() {
  jq -nrj 'env | "grant_type=client_credentials&client_id=\(.RIN_CLIENT_ID|@uri)&client_secret=\(.RIN_CLIENT_SECRET|@uri)"' > "$tmp/form"
  ask token --data-binary @"$tmp/form" "$RIN_TOKEN_URL"
  [[ $status == 200 ]] || die "no token: $status"
  jq -er '"Authorization: Bearer " + .access_token' "$tmp/token" > "$tmp/auth"
}
load() {
  ask list -L -H @"$tmp/auth" "$RIN_FUNDINGS_URL"
  if [[ $status == 401 ]]; then
    login
    ask list -L -H @"$tmp/auth" "$RIN_FUNDINGS_URL"
  fi
  [[ $status == 200 ]] || die "$status"
  grep -qi '^link:.*rel="\?next' "$tmp/h" && die "the list comes in pages"
  jq -e 'type == "array"' "$tmp/list" > /dev/null || die "no list"
}

login
for look in $(seq 10); do
  load
  sum=$(md5sum < "$tmp/list")
  [[ $sum == "${last-}" ]] || echo "$(date +%T) list has changed: $(jq length "$tmp/list") fundings"
  last=$sum
  sleep 0.1
done
