#!/bin/bash
# The bookmarks of a research office: looks up each saved id, shows title and next deadline, and
# looks a second time later on, conditionally. A bookmark that leads nowhere (404) is shown as gone.
# BOOKMARKS="id id ..." replaces the built-in ones. 0: every bookmark was answered in both rounds.
set -uo pipefail
for v in RIN_TOKEN_URL RIN_FUNDINGS_URL RIN_CLIENT_ID RIN_CLIENT_SECRET; do
  [ -n "${!v:-}" ] || { echo "bookmarks: $v is not set" >&2; exit 64; }
done
read -ra ids <<<"${BOOKMARKS:-XF-00000002 XF-00000004 XF-00000009 XF-00000021 XF-00000033 XF-00099999}"
base=${RIN_FUNDINGS_URL%/}
tmp=$(mktemp -d) && chmod 700 "$tmp" || exit 73
trap 'rm -rf "$tmp"' EXIT
note() { echo "bookmarks: $*" >&2; }

field() { sed -n "s/^$1: *//Ip" "$tmp/h" | tr -d '\r' | tail -n 1; }

wait_or_stop() { # ATTEMPT REASON
  local ra pause t now
  ra=$(field retry-after) pause=$((2 ** ($1 - 1)))
  if [[ $ra =~ ^[0-9]+$ ]]; then pause=$ra
  elif [ -n "$ra" ] && t=$(date -d "$ra" +%s 2>/dev/null); then
    now=$(date -d "$(field date)" +%s 2>/dev/null || date +%s)
    pause=$((t - now)); ((pause >= 0)) || pause=0
  fi
  if (($1 >= 5)) || ((SECONDS + pause > 50)); then note "$2: giving up"; return 1; fi
  note "$2: again in ${pause}s"
  sleep "$pause"
}

# The token lives in a variable of this shell, so functions that use it must not run in $(...).
TOKEN=
login() {
  local n status
  for n in 1 2 3 4 5; do
    : >"$tmp/h"
    status=$(curl -s --max-time 10 -D "$tmp/h" -o "$tmp/t" -w '%{http_code}' -H 'Accept: application/json' \
      --data grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@<(printf %s "$RIN_CLIENT_SECRET") "$RIN_TOKEN_URL") || status=000
    if [ "$status" = 200 ]; then
      TOKEN=$(jq -r '.access_token // empty' "$tmp/t" 2>/dev/null); rm -f "$tmp/t"
      [ -n "$TOKEN" ] && return 0
    fi
    case $status in 000 | 200 | 429 | 5*) wait_or_stop "$n" "token: status $status" || return 1 ;;
      *) note "token: status $status"; return 1 ;; esac
  done
}

# look ID: fills $tmp/ID.json; STATE becomes new, same or gone. 1 after a failure.
look() {
  local id=$1 url=$base/$1 n=1 refreshed=0 moves=0 status to cond
  while :; do
    if [ -z "$TOKEN" ]; then login || return 1; fi
    cond=()
    [ -s "$tmp/$id.etag" ] && cond=(-H "If-None-Match: $(cat "$tmp/$id.etag")")
    : >"$tmp/h"
    status=$(curl -s --max-time 12 -D "$tmp/h" -o "$tmp/body" -w '%{http_code}' "${cond[@]}" -H 'Accept: application/json' \
      -H @<(printf 'Authorization: Bearer %s\n' "$TOKEN") "$url") || status=000
    case $status in
      200)
        if jq -e --arg id "$id" '.id == $id' "$tmp/body" >/dev/null 2>&1; then
          mv "$tmp/body" "$tmp/$id.json"
          field etag >"$tmp/$id.etag"
          STATE=new; return 0
        fi
        wait_or_stop $((n++)) "$id: unreadable answer" || return 1 ;;
      304) STATE=same; return 0 ;;
      404) rm -f "$tmp/$id.json" "$tmp/$id.etag"; STATE=gone; return 0 ;;
      401)
        if ((refreshed++)); then note "$id: 401 again: $(field www-authenticate)"; return 1; fi
        TOKEN= ;;
      301 | 302 | 307 | 308)
        to=$(field location)
        case $to in
          /*) to=$(sed -E 's#^(https?://[^/]+).*#\1#' <<<"$url")$to ;;
        esac
        if [ "$(cut -d/ -f1-3 <<<"$to")" != "$(cut -d/ -f1-3 <<<"$base/")" ] || ((++moves > 2)); then
          note "$id: redirected to $to, not followed"; return 1
        fi
        url=$to ;;
      000 | 429 | 5*) wait_or_stop $((n++)) "$id: status $status" || return 1 ;;
      *) note "$id: status $status $(head -c 160 "$tmp/body")"; return 1 ;;
    esac
  done
}

show() { # ID
  jq -r --arg now "$(date -u +%FT%TZ)" '
    [.id, .type,
     ((.name | map(select(.lang == "en")) + . | first | .text) // "?"),
     ("until " + ([.callStages[]?.callStageEnd] | max // "further notice" | .[0:16]))] | join("  ")' "$tmp/$1.json"
}

for round in 1 2; do
  ((round == 1)) || sleep 6
  echo "-- round $round, $(date +%T)"
  for id in "${ids[@]}"; do
    if ! look "$id"; then
      note "round $round is incomplete, stopping at $id"
      exit 1
    fi
    case $STATE in
      new) show "$id" ;;
      same) echo "$id  unchanged" ;;
      gone) echo "$id  GONE: there is no such funding any more" ;;
    esac
    sleep 0.3
  done
done
