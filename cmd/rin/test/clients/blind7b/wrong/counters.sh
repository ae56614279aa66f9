#!/bin/bash
# Counters for the screen in the hall: programmes, grants and awards, and whether the node is well;
# three rounds, five seconds apart. Ends with 0 if every number of every round was read.
set -uo pipefail
for v in RIN_TOKEN_URL RIN_INFO_URL RIN_FUNDINGS_URL RIN_CLIENT_ID RIN_CLIENT_SECRET; do
  [ -n "${!v:-}" ] || { echo "counters: $v is not set" >&2; exit 64; }
done
tmp=$(mktemp -d) && chmod 700 "$tmp" || exit 73
trap 'rm -rf "$tmp"' EXIT
LIMIT=50 TRIES=5
SITE=$(sed -E 's#^(https?://[^/?]+).*#\1#' <<<"$RIN_FUNDINGS_URL")

log() { echo "counters: $*" >&2; }
head_of() { tr -d '\r' <"$tmp/head" | sed -n "s/^$1: *//Ip" | tail -n 1; }

patience() { # ATTEMPT REASON: waits as the node asks, or longer each time
  local wish at secs
  wish=$(head_of retry-after)
  secs=$((1 << ($1 - 1)))
  if [[ $wish =~ ^[0-9]+$ ]]; then
    secs=$wish
  elif [ -n "$wish" ] && at=$(date -d "$wish" +%s 2>/dev/null); then
    secs=$((at - $(date -d "$(head_of date)" +%s)))
    [ "$secs" -ge 0 ] || secs=0
  fi
  if [ "$1" -ge "$TRIES" ] || [ $((SECONDS + secs)) -gt "$LIMIT" ]; then
    log "$2: no more attempts"
    return 1
  fi
  log "$2: waiting $secs s"
  sleep "$secs"
}

# The token and the second when it has to be replaced.
ACCESS_TOKEN='' GOOD_UNTIL=0
ensure_token() {
  local n status ttl
  if [ -n "$ACCESS_TOKEN" ] && [ "$SECONDS" -lt "$GOOD_UNTIL" ]; then return 0; fi
  for ((n = 1; ; n++)); do
    : >"$tmp/head"
    status=$(curl -s -m 10 -D "$tmp/head" -o "$tmp/token" -w '%{http_code}' -H 'Accept: application/json' \
      -d grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@<(printf %s "$RIN_CLIENT_SECRET") "$RIN_TOKEN_URL") || status=000
    if [ "$status" = 200 ] && ACCESS_TOKEN=$(jq -er '.access_token | strings' "$tmp/token" 2>/dev/null); then
      ttl=$(jq -r '.expires_in // 60 | floor' "$tmp/token")
      GOOD_UNTIL=$((SECONDS + ttl - 20))
      rm -f "$tmp/token"
      return 0
    fi
    case $status in
      000 | 200 | 429 | 5??) patience "$n" "token endpoint: status $status" || return 1 ;;
      *) log "token endpoint: status $status"; return 1 ;;
    esac
  done
}

# api URL: prints the JSON of the answer; the headers stay in $tmp/head
api() {
  local url=$1 n=1 status again='' hops=0 to cond kept
  kept=$tmp/$(cksum <<<"$url" | tr ' ' -)
  while :; do
    ensure_token || return 1
    : >"$tmp/head"
    cond=()
    [ ! -s "$kept.etag" ] || cond=(-H "If-None-Match: $(cat "$kept.etag")")
    status=$(curl -s -m 12 "${cond[@]}" -D "$tmp/head" -o "$tmp/body" -w '%{http_code}' -H 'Accept: application/json' \
      -H @<(printf 'Authorization: Bearer %s\n' "$ACCESS_TOKEN") "$url") || status=000
    case $status in
      200)
        if jq -e . "$tmp/body" >/dev/null 2>&1; then
          if [ "$(jq length "$tmp/body")" != 0 ]; then
            cp "$tmp/body" "$kept.json"; cp "$tmp/head" "$kept.head"; head_of etag >"$kept.etag"
          fi
          cat "$tmp/body"
          return 0
        fi
        patience $((n++)) 'the JSON of the answer is damaged' || return 1 ;;
      304) cp "$kept.head" "$tmp/head"; cat "$kept.json"; return 0 ;;
      401)
        if [ -n "$again" ]; then log "401 twice: $(head_of www-authenticate)"; return 1; fi
        again=yes ACCESS_TOKEN='' ;;
      301 | 302 | 307 | 308)
        to=$(head_of location)
        case $to in /*) to=$SITE$to ;; esac
        hops=$((hops + 1))
        if [[ $to != "$SITE"/* ]] || [ "$hops" -gt 3 ]; then log "redirected to $to, not followed"; return 1; fi
        url=$to ;;
      000 | 429 | 5??) patience $((n++)) "status $status" || return 1 ;;
      *) log "status $status: $(head -c 150 "$tmp/body")"; return 1 ;;
    esac
  done
}

count() { # FILTER: the number of different fundings, all pages
  local url="$RIN_FUNDINGS_URL?$1&page%5Bpage%5D=0&page%5Bsize%5D=100" body next empty=0
  : >"$tmp/ids"
  while [ -n "$url" ]; do
    body=$(api "$url") || return 1
    next=$(head_of link | grep -oP '<\K[^>]+(?=>; rel="next")')
    if [ -n "$next" ] && [ "$(jq length <<<"$body")" = 0 ] && [ $((++empty)) -lt 3 ]; then
      sleep "$empty"        # an index being built, perhaps
      continue
    fi
    jq -r '.[].id' <<<"$body" >>"$tmp/ids" || return 1
    case $next in /*) next=$SITE$next ;; esac
    if [ -n "$next" ] && [[ $next != "$SITE"/* ]]; then log "a next page elsewhere: $next"; return 1; fi
    url=$next
  done
  sort -u "$tmp/ids" | wc -l
}

for round in 1 2 3; do
  [ "$round" = 1 ] || sleep 5
  endpoints=$(api "$RIN_INFO_URL" | jq '[.endpoints[][]] | length') || { log 'the info resource cannot be read'; exit 1; }
  line="round $round: $endpoints endpoints"
  for kind in PROGRAMME GRANT AWARD; do
    number=$(count "fundingType=$kind") || { log "$kind is missing"; exit 1; }
    line+=", $number ${kind,,}s"
  done
  echo "$line"
done
