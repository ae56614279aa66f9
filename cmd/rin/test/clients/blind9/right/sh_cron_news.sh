#!/bin/bash
# From cron, once a day: the running calls whose first stage began since yesterday. One question for
# the filtered list without paging; a node that pages all the same is followed. Prints nothing if
# there is nothing new, so that cron sends no mail.
set -euo pipefail
umask 077
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
die() { echo "funding news: $*" >&2; exit 1; }

# ask NAME CURL-ARGS...: one answer in $tmp/NAME, status in $status; waits for 429 and 503
ask() {
  local name=$1 try after
  shift
  for try in 1 2 3 4 5 6 7; do
    status=$(curl -sS --max-time 20 -D "$tmp/$name.h" -o "$tmp/$name" -w '%{http_code}' "$@") || die "curl ended with $?"
    case $status in 429 | 503) ;; *) return 0 ;; esac
    [[ $try == 7 ]] && return 0
    after=$(header "$name" retry-after)
    if [[ $after =~ ^[0-9]+$ ]]; then
      sleep $((after > 1 ? after : 1))
    elif [[ -n $after ]] && after=$(date -d "$after" +%s 2>/dev/null); then
      after=$((after - $(date +%s)))
      sleep $((after > 1 ? after : 1))
    else
      sleep $((try * 2))
    fi
  done
}
header() { tr -d '\r' < "$tmp/$1.h" | sed -n "s/^$2: *//Ip" | paste -sd, ; }

login() {
  jq -nrj 'env | "grant_type=client_credentials&client_id=\(.RIN_CLIENT_ID|@uri)&client_secret=\(.RIN_CLIENT_SECRET|@uri)"' > "$tmp/form"
  ask token --data-binary @"$tmp/form" "$RIN_TOKEN_URL"
  [[ $status == 200 ]] || die "token endpoint answers $status"
  jq -er '.access_token | strings | "Authorization: Bearer " + .' "$tmp/token" > "$tmp/auth" || die "no access_token"
}
get() {
  local url=$1 hop
  for hop in 1 2 3 4 5; do
    [[ $(host "$url") == "$(host "$RIN_FUNDINGS_URL")" ]] || die "not our node: $url"
    ask list -g -H @"$tmp/auth" "$url"
    if [[ $status == 401 ]]; then
      login
      ask list -g -H @"$tmp/auth" "$url"
    fi
    case $status in
      301 | 302 | 303 | 307 | 308) url=$(absolute "$(header list location)" "$url") ;;
      *) break ;;
    esac
  done
  [[ $status == 200 ]] || die "$status at $url"
  jq -e 'type == "array"' "$tmp/list" > /dev/null || die "no list at $url"
  at=$url
}
host() { [[ $1 =~ ^([a-z]+://[^/?#]+) ]] && echo "${BASH_REMATCH[1]}"; }
absolute() {
  case $1 in
    http://* | https://*) echo "$1" ;;
    /*) echo "$(host "$2")$1" ;;
    \?*) echo "${2%%\?*}$1" ;;
    *) die "odd link $1" ;;
  esac
}

login
since=$(date -u -d yesterday +%Y-%m-%d)
url="$RIN_FUNDINGS_URL?runningCalls=true"
: > "$tmp/calls"
: > "$tmp/asked"
while true; do
  if grep -qxF -- "$url" "$tmp/asked"; then die "the next links go in a circle"; fi
  echo "$url" >> "$tmp/asked"
  get "$url"
  jq -c '.[]' "$tmp/list" >> "$tmp/calls"
  next=$(header list link | grep -oiE '<[^>]*>[^<]*; *rel *= *"?next' | head -n 1 || true)
  [[ -n $next ]] || break
  next=${next#<}
  url=$(absolute "${next%%>*}" "$at")
done
jq -rs --arg since "$since" 'unique_by(.id)[] | select(([.callStages[]?.callStageStart] | min // "")[:10] >= $since)
  | "\(.id)  \(.name[0].text)  (until \(.callStages[0].callStageEnd[:10]? // "further notice"))"' "$tmp/calls"
