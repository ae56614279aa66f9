#!/bin/bash
# Downloads all pages with curl.
set -u
if [ -z "${HARVEST_GUARD:-}" ]; then HARVEST_GUARD=1 exec timeout 19 bash "$0" "$@"; fi
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
die() { echo "harvest: $*" >&2; exit 1; }

http() { # writes $dir/body and $dir/head, prints the status
  local config code try after; config=
  [ "$1" = -K ] && config=$(cat)
  for try in $(seq 40); do
    code=$(printf '%s\n' "$config" | curl -sS -g -o "$dir/body" -D "$dir/head" -w '%{http_code}' --connect-timeout 3 --max-time 8 "$@" 2>>"$dir/log") || code=000
    after=$(tr -d '\r' <"$dir/head" | awk 'tolower($1)=="retry-after:"{print $2}')
    case $code in
      429 | 503) case $after in ''|*[!0-9]*) after=$((try < 4 ? 1 << try : 8));; esac
        [ $((SECONDS + after)) -lt 16 ] || break
        sleep "$after.1";;
      5*) ;;
      000) [ "$try" -lt 5 ] || break; sleep "$try";;
      *) echo "$code"; return;;
    esac
    [ $SECONDS -lt 16 ] || break
  done
  tail -1 "$dir/log" >&2; return 1
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
