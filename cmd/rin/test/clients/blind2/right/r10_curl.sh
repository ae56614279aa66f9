#!/bin/bash
# Downloads all pages with curl, which waits and repeats by itself (Retry-After, 1 s, 2 s, 4 s).
set -u
if [ -z "${HARVEST_GUARD:-}" ]; then HARVEST_GUARD=1 exec timeout 19 bash "$0" "$@"; fi
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
die() { echo "harvest: $*" >&2; exit 1; }

http() { # writes $dir/body and $dir/head, prints the status
  local left=$((16 - SECONDS))
  [ "$left" -gt 0 ] || return 1
  curl -sS -g -o "$dir/body" -D "$dir/head" -w '%{http_code}' --connect-timeout 3 --max-time 8 \
    --retry 4 --retry-max-time "$left" --retry-all-errors "$@" 2>>"$dir/log" ||
    { tail -1 "$dir/log" >&2; return 1; }
}

login() {
  local code
  code=$(printf 'user = "%s:%s"\n' "$RIN_CLIENT_ID" "$RIN_CLIENT_SECRET" |
    http -K - -H 'Accept: application/json' --data-urlencode grant_type=client_credentials "$RIN_TOKEN_URL") || die "token endpoint unreachable"
  [ "$code" = 200 ] || die "token endpoint answers $code"
  jq -e '(.token_type|ascii_downcase)=="bearer"' "$dir/body" >/dev/null || die "no bearer token"
  TOKEN=$(jq -er .access_token "$dir/body") || die "no token"
}

get() {
  local code renewed=
  while :; do
    code=$(http -H "Authorization: Bearer $TOKEN" -H 'Accept: application/json' "$1") || die "$1 failed"
    case $code in
      200) jq -e 'type=="array"' "$dir/body" >/dev/null 2>&1 || die "$1: no JSON list"; return;;
      401) [ -z "$renewed" ] || die "401 with a fresh token"; renewed=1; login;;
      *) die "$1: $code";;
    esac
  done
}

login
origin=$(printf %s "$RIN_FUNDINGS_URL" | sed -E 's#^(https?://[^/]+).*#\1#')
url="$RIN_FUNDINGS_URL?page%5Bpage%5D=0&page%5Bsize%5D=70"
: >"$dir/ids"
pages=0
while [ -n "$url" ]; do
  pages=$((pages + 1)); [ $pages -le 500 ] || die "no end"
  get "$url"
  jq -r '.[].id' "$dir/body" >>"$dir/ids"
  next=$(tr -d '\r' <"$dir/head" | awk '/^HTTP\//{l=""} tolower($1)=="link:"{l=$0} END{print l}' |
    tr ',' '\n' | sed -nE 's/.*<([^>]*)>; *rel="?next"?.*/\1/p')
  case $next in
    '') url=;;
    /*) url=$origin$next;;
    "$origin"/*) url=$next;;
    *) die "next link leads elsewhere: $next";;
  esac
done
echo "$(sort -u "$dir/ids" | wc -l) fundings"
