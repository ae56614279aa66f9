#!/bin/bash
# Showcase of the research office: running calls for universities and for companies, and all
# programmes, shown three times, six seconds apart. Each selection is read to its last page; pages
# that are the same as before are not transferred again.
# curl itself repeats what was answered 429 or 5xx (--retry; it obeys Retry-After).
# Needs curl and jq. 0: every selection was complete each time.
set -euo pipefail
umask 077
: "${RIN_TOKEN_URL:?}" "${RIN_FUNDINGS_URL:?}" "${RIN_CLIENT_ID:?}" "${RIN_CLIENT_SECRET:?}"
SHOWS=3 EVERY=6 SIZE=50 LIMIT=50
SELECTIONS=('fundingType=PROGRAMME' 'runningCalls=true&targetGroup=COMPANY' 'runningCalls=true&targetGroup=UNIVERSITY')
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

log() { echo "showcase: $*" >&2; }
fail() { log "incomplete: $*"; exit 1; }
left() { local l=$((LIMIT - SECONDS)); ((l > 1)) || l=1; echo "$l"; }
origin() { cut -d/ -f1-3 <<<"$1"; }
NODE=$(origin "$RIN_FUNDINGS_URL")

# The last answer's header of this name: after a redirect or a repetition there are several blocks.
header() {
  tr -d '\r' <"$dir/head" | awk -v n="$1:" '
    /^HTTP\// { v = "" }
    tolower(substr($0, 1, length(n))) == n { v = substr($0, length(n) + 1); sub(/^ +/, "", v) }
    END { print v }'
}

# --location follows a node that has moved; with --location-trusted the token is still there after
# the redirect, and the new place does not answer 401.
CURL=(curl --silent --show-error --compressed --location-trusted --max-redirs 3
  --retry 4 --retry-connrefused --connect-timeout 5 --max-time 12)

sign_in() {
  local code
  code=$(printf %s "$RIN_CLIENT_SECRET" | curl --silent --show-error --retry 4 --max-time 12 --retry-max-time "$(left)" \
    --output "$dir/token" --write-out '%{http_code}' --header 'Accept: application/json' \
    --data grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
    --data-urlencode client_secret@- "$RIN_TOKEN_URL") || fail "token endpoint: curl ended with $?"
  [[ $code == 200 ]] || fail "token endpoint: status $code"
  jq -er '.access_token | strings | "Authorization: Bearer " + .' "$dir/token" >"$dir/auth" || fail 'token endpoint: no token'
  rm -f "$dir/token"
}

# page URL: fills $dir/now.json and NEXT
page() {
  local url=$1 key code rest count renewed='' n empty=0
  key=$dir/page-$(cksum <<<"$url" | cut -d' ' -f1)
  for ((n = 1; n <= 4; n++)); do
    local cond=()
    [[ ! -s $key.etag ]] || cond=(--header "If-None-Match: $(<"$key.etag")")
    : >"$dir/head"
    rest=0
    code=$("${CURL[@]}" --retry-max-time "$(left)" --dump-header "$dir/head" --output "$dir/body" --write-out '%{http_code}' \
      --header "@$dir/auth" --header 'Accept: application/json' "${cond[@]}" "$url") || rest=$?
    if ((rest)); then
      ((SECONDS < LIMIT)) || break
      log "curl ended with $rest, once more"
      sleep "$n"
      continue
    fi
    case $code in
      304)
        cp "$key.json" "$dir/now.json"; NEXT=$(<"$key.next")
        return ;;
      200)
        if ! count=$(jq -e 'arrays | length' "$dir/body" 2>/dev/null); then
          log 'the answer is not a complete array, once more'
          sleep "$n"
          continue
        fi
        NEXT=$(header link | grep -oP '<\K[^>]+(?=>; *rel="?next)' || true)
        if [[ -n $NEXT && $count == 0 ]] && ((++empty < 3)); then
          log 'an empty page before the end, once more'
          sleep "$n"
          continue
        fi
        if [[ -z $NEXT || $count == "$SIZE" ]]; then
          header etag >"$key.etag"; cp "$dir/body" "$key.json"; printf %s "$NEXT" >"$key.next"
        fi
        mv "$dir/body" "$dir/now.json"
        return ;;
      401)
        [[ -z $renewed ]] || fail "401 with a new token: $(header www-authenticate)"
        renewed=yes
        log 'the token is not accepted, fetching another one'
        sign_in ;;
      *) fail "status $code: $(head -c 150 "$dir/body")" ;;
    esac
  done
  fail "$url cannot be read"
}

sign_in
for ((show = 1; show <= SHOWS; show++)); do
  ((show == 1)) || sleep "$EVERY"
  echo "-- $(date +%T) show $show"
  for selection in "${SELECTIONS[@]}"; do
    url="$RIN_FUNDINGS_URL?$selection&page%5Bpage%5D=0&page%5Bsize%5D=$SIZE"
    : >"$dir/rows"; : >"$dir/been"
    while [[ -n $url ]]; do
      ! grep -qxF "$url" "$dir/been" || fail 'the pages form a circle'
      echo "$url" >>"$dir/been"
      page "$url"
      jq -r '.[] | [.id, .acronym // "-"] | @tsv' "$dir/now.json" >>"$dir/rows"
      url=$NEXT
      if [[ $url == /* ]]; then url=$NODE$url; fi
      [[ -z $url || $(origin "$url") == "$NODE" ]] || fail "the next page is elsewhere: $url"
    done
    sort -u -k1,1 "$dir/rows" -o "$dir/rows"
    printf '%-50s %4d  %s …\n' "$selection" "$(wc -l <"$dir/rows")" "$(head -n 3 "$dir/rows" | cut -f2 | paste -sd' ')"
  done
done
