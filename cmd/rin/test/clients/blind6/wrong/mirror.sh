#!/usr/bin/env bash
# Mirrors the list of fundings page by page with curl, and prints a table.
set -euo pipefail
umask 077

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
size=80
tries=5

fail() {
  echo "mirror: $*" >&2
  exit 1
}

header() { # header NAME: of the last answer
  tr -d '\r' <"$work/head" | awk -F': ' -v name="$1" '
    /^HTTP\// { value = "" }
    tolower($1) == name { sub(/^[^:]*: */, ""); value = $0 }
    END { print value }'
}

login() {
  local code
  code=$(printf '%s' "$RIN_CLIENT_SECRET" |
    curl -sS -q --noproxy '*' --max-time 12 -o "$work/token" -w '%{http_code}' \
      -d grant_type=client_credentials \
      --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@- "$RIN_TOKEN_URL") || fail "no token endpoint"
  [ "$code" = 200 ] || fail "token endpoint answers $code"
  # A file for curl, so that the token is not on a command line. As a header that
  # is set by hand is sent to every host anyway, curl has it as its own.
  jq -er '"oauth2-bearer = \"" + .access_token + "\""' "$work/token" >"$work/auth" ||
    fail "no token in the answer"
}

# get URL: one request; redirects are followed, with the token.
get() {
  curl -sSg -q -K "$work/auth" --noproxy '*' --max-time 12 --compressed \
    -L --max-redirs 3 --location-trusted --proto-redir =http,https \
    -o "$work/page" -D "$work/head" -w '%{http_code}' "$1"
}

pause_of() { # pause_of ATTEMPT: Retry-After in both forms, else a growing pause
  local own=$((1 << $1)) value until now
  value=$(header retry-after)
  if [[ $value =~ ^[0-9]+$ ]]; then
    echo $((value > own ? value : own))
  elif [ -n "$value" ] && until=$(date -d "$value" +%s) && now=$(date -d "$(header date)" +%s); then
    echo $((until - now + 1 > own ? until - now + 1 : own))
  else
    echo "$own"
  fi
}

# page URL: leaves the records in $work/page.
page() {
  local attempt code refused=0 empty=0
  for ((attempt = 0; attempt < tries; attempt++)); do
    : >"$work/head"
    code=$(get "$1") || code=0
    if [ "$code" = 200 ] && jq -e 'type == "array"' "$work/page" >/dev/null 2>&1; then
      if [ "$empty" = 1 ] || [ -z "$(next_of)" ] || jq -e 'length > 0' "$work/page" >/dev/null; then
        return 0
      fi
      empty=1 # before the end: asked for a second time
    elif [ "$code" = 401 ] && [ "$refused" = 0 ]; then
      refused=1
      login
      continue
    elif [ "$code" -ge 300 ] && [ "$code" -lt 500 ] && [ "$code" != 429 ]; then
      fail "$1 answers $code"
    fi
    echo "mirror: $1: $code" >&2
    sleep "$(pause_of "$attempt")"
  done
  fail "$1: given up after $tries tries"
}

next_of() { # address of the next page, on the host of the list
  local target base
  target=$(header link | grep -o '<[^>]*>; rel="next"' | sed 's/^<\([^>]*\)>.*/\1/') || return 0
  base=$(sed -E 's#^(https?://[^/]+).*#\1#' <<<"$RIN_FUNDINGS_URL")
  case $target in
    /*) echo "$base$target" ;;
    "$base"/*) echo "$target" ;;
    *) fail "next page on another host: $target" ;;
  esac
}

login
url="$RIN_FUNDINGS_URL?page[page]=0&page[size]=$size"
while [ -n "$url" ]; do
  page "$url"
  jq -c '.[]' "$work/page" >>"$work/all"
  url=$(next_of)
done

jq -s -r 'unique_by(.id)[] | [.id, .type, (.name[0].text // "")] | @tsv' "$work/all" >"$work/table"
cat "$work/table"
echo "$(wc -l <"$work/table") fundings" >&2
