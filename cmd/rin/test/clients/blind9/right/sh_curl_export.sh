#!/bin/sh
# Whole list with curl and jq. curl --retry obeys Retry-After; the token is not on the command line.
set -eu
umask 077
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

say() { echo "$*" >&2; }
home=$(printf %s "$RIN_FUNDINGS_URL" | sed 's|^\([a-z]*://[^/]*\).*|\1|')

login() {
  printf 'client_secret=%s' "$(printf %s "$RIN_CLIENT_SECRET" | jq -sRr @uri)" > "$dir/secret"
  curl -sS --fail --retry 5 --max-time 60 -o "$dir/token.json" \
    --data grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" --data "@$dir/secret" \
    "$RIN_TOKEN_URL" || { say "no token"; exit 1; }
  jq -er '.access_token | strings | "header = \"Authorization: Bearer \(.)\""' "$dir/token.json" > "$dir/auth" || { say "no token"; exit 1; }
}

# -L is safe here: curl gives a header of -K only to the host and port that were asked
fetch() {
  : > "$dir/head"
  curl -sS -g -L --max-redirs 5 --retry 5 --max-time 60 -K "$dir/auth" -H 'Accept: application/json' \
    -D "$dir/head" -o "$dir/page.json" -w '%{http_code} %{url_effective}' "$1"
}

login
: > "$dir/all"
: > "$dir/asked"
read=0
url="$RIN_FUNDINGS_URL?page[page]=0&page[size]=100"
while [ -n "$url" ]; do
  case $url in
    "$home"/*) ;;
    *) say "next page is on another host: $url"; exit 1 ;;
  esac
  if grep -qxF -- "$url" "$dir/asked"; then say "next links in a circle"; exit 1; fi
  echo "$url" >> "$dir/asked"
  got=$(fetch "$url") || { say "cannot read $url"; exit 1; }
  case ${got#* } in
    "$home"/*) ;;
    *) say "redirected to another host: ${got#* }"; exit 1 ;;
  esac
  if [ "${got%% *}" = 401 ]; then
    login
    got=$(fetch "$url") || { say "cannot read $url"; exit 1; }
  fi
  [ "${got%% *}" = 200 ] || { say "${got%% *} at $url"; exit 1; }
  jq -e 'type == "array"' "$dir/page.json" > /dev/null 2>&1 || { say "no list at $url"; exit 1; }
  jq -c '.[]' "$dir/page.json" >> "$dir/all"
  n=$(jq length "$dir/page.json")
  read=$((read + n))
  # links of the last answer only (there may be redirects and repetitions before it)
  link=$(tr -d '\r' < "$dir/head" | awk 'tolower($1) ~ /^http\// {l=""} tolower($1) == "link:" {l = l " " $0} END {print l}')
  next=$(printf %s "$link" | tr '<' '\n' | sed -n 's/^\([^>]*\)>[^<]*rel="\{0,1\}next"\{0,1\}.*/\1/Ip' | head -n 1)
  case $next in
    '') if [ "$n" -gt 0 ] && [ -z "$link" ]; then url="$RIN_FUNDINGS_URL?page[page]=$read&page[size]=100"; else url=; fi ;;
    http://* | https://*) url=$next ;;
    /*) url=$home$next ;;
    \?*) url=$RIN_FUNDINGS_URL$next ;;
    *) url=${RIN_FUNDINGS_URL%/*}/$next ;;
  esac
done
jq -s 'unique_by(.id)' "$dir/all" > "$dir/out.json"
cat "$dir/out.json"
say "$(jq length "$dir/out.json") fundings"
