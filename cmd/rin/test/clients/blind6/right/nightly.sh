#!/usr/bin/env bash
# Nightly copy of the whole list in one request, without paging and retries:
# cron runs it again tomorrow, and mails what went wrong. A second pass asks
# with the ETag of the first whether anything changed while it worked.
set -euo pipefail
umask 077

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/fundings.json

fail() {
  echo "nightly: $*" >&2
  exit 1
}

header() { # header NAME FILE
  tr -d '\r' <"$2" | awk -v name="$1" -F': ' 'tolower($1) == name { print $2 }' | tail -n 1
}

# The secret comes by standard input, and is not on any command line.
login() {
  local code
  code=$(printf '%s' "$RIN_CLIENT_SECRET" |
    curl -sS -q --noproxy '*' --max-time 15 -o "$work/token" -w '%{http_code}' \
      --data grant_type=client_credentials \
      --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@- \
      "$RIN_TOKEN_URL") || fail "token endpoint not reached"
  [ "$code" = 200 ] || fail "token endpoint answers $code"
  printf 'Authorization: Bearer %s\n' "$(jq -er .access_token "$work/token")" >"$work/auth" ||
    fail "no token in the answer"
}

# get OUT [HEADER]: prints the status; redirects are not followed.
get() {
  local out=$1
  shift
  curl -sS -q --noproxy '*' --max-time 20 --compressed -o "$out" -D "$work/head" \
    -w '%{http_code}' -H @"$work/auth" "$@" "$RIN_FUNDINGS_URL" ||
    fail "the list was not read completely"
}

ask() {
  local code
  code=$(get "$@")
  if [ "$code" = 401 ]; then # once with a new token
    login
    code=$(get "$@")
  fi
  echo "$code"
}

keep() {
  jq -e 'type == "array" and length > 0 and all(.[]; has("id"))' "$work/new" >/dev/null ||
    fail "the answer is not a list of fundings"
  jq -c 'unique_by(.id)' "$work/new" >"$work/sorted"
  mv "$work/sorted" "$copy"
  header etag "$work/head" >"$work/etag"
}

login
code=$(ask "$work/new")
[ "$code" = 200 ] || fail "the list answers $code: $(head -c 200 "$work/new")"
keep

sleep 2
etag=$(cat "$work/etag")
code=$(ask "$work/again" -H "If-None-Match: ${etag:-\"none\"}")
case $code in
  304) echo "unchanged since the first pass" >&2 ;;
  200)
    mv "$work/again" "$work/new"
    keep
    ;;
  *) fail "the second pass answers $code" ;;
esac

jq -r 'group_by(.type)[] | "\(.[0].type) \(length)"' "$copy"
echo "$(jq length "$copy") fundings" >&2
