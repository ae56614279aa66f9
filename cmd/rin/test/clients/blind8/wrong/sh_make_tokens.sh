#!/bin/bash
# Small commands that are run one after the other, as in a Makefile: each a process of its own; they share
# a token that is cached on disk.
#   sh_make_tokens.sh            runs all
#   sh_make_tokens.sh info       the node's endpoints
#   sh_make_tokens.sh open       ids of the first running calls
#   sh_make_tokens.sh show ID    one call
set -u -o pipefail
umask 077
me=$0

if [ $# -eq 0 ]; then
  CACHE=$(mktemp -d) || exit 1
  export CACHE
  trap 'rm -rf "$CACHE"' EXIT
  bash "$me" info || exit 1
  ids=$(bash "$me" open) || exit 1
  for id in $(printf '%s\n' "$ids" | head -4); do
    bash "$me" show "$id" || exit 1
  done
  exit 0
fi

: "${CACHE:?}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
quit() { echo "fund: $*" >&2; exit 1; }
field() { sed -n "s/^$1: *//Ip" "$tmp/h" | tr -d '\r' | tail -1; }
root() { printf '%s' "$1" | grep -oE '^[a-z]+://[^/?]+'; }

# ask URL: one answer in $tmp/b, its status in code; further arguments are for curl
ask() {
  local url=$1 bad=0 waited=0 moved=0 ra secs to now
  shift
  while true; do
    code=$(curl -q -gsS -m 20 -D "$tmp/h" -o "$tmp/b" -w '%{http_code}' "$@" -- "$url" 2>"$tmp/e") || code=0
    if [ "$code" = 200 ] && ! jq -e . "$tmp/b" >/dev/null 2>&1; then code=0; fi
    case $code in
    429|503)
      ra=$(field Retry-After) secs=
      case $ra in
      '') ;;
      *[!0-9]*)
        to=$(date -d "$ra" +%s 2>/dev/null) && now=$(date -d "$(field Date)" +%s 2>/dev/null) && secs=$((to - now))
        [ -n "$secs" ] && [ "$secs" -lt 0 ] && secs=0 ;;
      *) secs=$ra ;;
      esac
      if [ -n "$secs" ]; then
        waited=$((waited + 1))
        [ $waited -le 5 ] && [ "$secs" -le 900 ] || quit "$url: $code, Retry-After $ra"
        sleep "$secs"; sleep 0.1
      else
        bad=$((bad + 1)); [ $bad -le 3 ] || quit "$url: $code"
        sleep $bad
      fi ;;
    0|5??)
      bad=$((bad + 1)); [ $bad -le 3 ] || quit "$url: $code $(cat "$tmp/e")"
      sleep $bad ;;
    301|302|307|308)
      to=$(field Location)
      case $to in /*) to=$(root "$url")$to ;; esac
      moved=$((moved + 1))
      [ $moved -le 3 ] && [ "$(root "$to")" = "$(root "$url")" ] || quit "redirected to $to"
      url=$to ;;
    *) return ;;
    esac
  done
}

renew() {
  printf %s "$RIN_CLIENT_SECRET" >"$tmp/secret"
  ask "$RIN_TOKEN_URL" -d grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" --data-urlencode "client_secret@$tmp/secret"
  [ "$code" = 200 ] || quit "no token: $code"
  jq -e --argjson now "$(date +%s)" '{access_token, until: ($now + ((.expires_in // 3600000) | tonumber) / 1000 * 0.8 | floor)} | select(.access_token)' \
    "$tmp/b" >"$CACHE/token.new" || quit "no token in the answer"
  mv "$CACHE/token.new" "$CACHE/token"
}

get() {
  if ! jq -e --argjson now "$(date +%s)" '.until > $now' "$CACHE/token" >/dev/null 2>&1; then renew; fi
  local again
  for again in yes no; do
    jq -r '"header = \"Authorization: Bearer \(.access_token)\""' "$CACHE/token" >"$tmp/auth"
    ask "$1" -K "$tmp/auth"
    [ "$code" = 401 ] && [ $again = yes ] || break
    renew
  done
  [ "$code" = 200 ] || quit "$1: $code $(field WWW-Authenticate)"
}

case $1 in
info)
  get "$RIN_INFO_URL"
  jq -r '.endpoints | to_entries[] | .key as $k | .value[] | "\($k) \(.name) v\(.majorVersion)"' "$tmp/b" || quit "info not understood" ;;
open)
  url="$RIN_FUNDINGS_URL?runningCalls=true&page%5Bpage%5D=0&page%5Bsize%5D=4" n=0 skip=0
  : >"$tmp/ids"
  while [ -n "$url" ] && [ "$(sort -u "$tmp/ids" | wc -l)" -lt 4 ]; do
    n=$((n + 1)); [ $n -le 50 ] || quit "too many pages"
    get "$url"
    jq -r '.[].id' "$tmp/b" >>"$tmp/ids" || quit "no list"
    skip=$((skip + $(jq length "$tmp/b")))
    if [ -n "$(field Link)" ]; then
      next=$(field Link | grep -oE '<[^>]*>; *rel="?next' | sed -E 's/^<([^>]*)>.*/\1/')
      case $next in /*) next=$(root "$RIN_FUNDINGS_URL")$next ;; esac
      [ -z "$next" ] || [ "$(root "$next")" = "$(root "$RIN_FUNDINGS_URL")" ] || quit "next page at $next"
      [ "$next" != "$url" ] || quit "a page that names itself as the next"
      url=$next
    elif [ "$(jq length "$tmp/b")" -gt 0 ]; then
      url="$RIN_FUNDINGS_URL?runningCalls=true&page%5Bpage%5D=$skip&page%5Bsize%5D=4"
    else
      url=
    fi
  done
  awk '!s[$0]++' "$tmp/ids" ;;
show)
  get "${RIN_FUNDINGS_URL%/}/$2"
  jq -r '[.id, .type, (.callStages[-1].callStageEnd // "-"), (.name[0].text // "")] | join("  ")' "$tmp/b" || quit "not understood" ;;
*) quit "what?" ;;
esac
