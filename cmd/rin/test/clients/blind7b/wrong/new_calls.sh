#!/bin/bash
# News of the funding calls: reads the list of each kind of funding, two rounds, and prints the
# ids that are new since the round before. Pages are revalidated with their ETag.
# Needs curl and jq.
set -euo pipefail
umask 077
export LC_ALL=C
: "${RIN_TOKEN_URL:?}" "${RIN_FUNDINGS_URL:?}" "${RIN_CLIENT_ID:?}" "${RIN_CLIENT_SECRET:?}"
KINDS=(PROGRAMME CALL ONGOING_CALL AWARD GRANT)
ROUNDS=2 EVERY=5 SIZE=50 TRIES=5 BUDGET=42
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

log() { echo "new_calls: $*" >&2; }
site() { cut -d/ -f1-3 <<<"$1"; }
SITE=$(site "$RIN_FUNDINGS_URL")
value() { tr -d '\r' <"$dir/head" | sed -n "s/^$1: *//Ip" | tail -n 1; }

linger() { # ATTEMPT REASON
  local ra when pause=$((1 << ($1 - 1)))
  ra=$(value retry-after)
  if [[ $ra =~ ^[0-9]+$ ]]; then
    pause=$ra
  elif [[ -n $ra ]] && when=$(date -d "$ra" +%s 2>/dev/null); then
    pause=$((when - $(date -d "$(value date)" +%s)))
    ((pause > 0)) || pause=0
  fi
  if (($1 >= TRIES || SECONDS + pause > BUDGET)); then
    log "$2, giving up after $1 attempts"
    return 1
  fi
  log "$2, next attempt in $pause s"
  sleep "$pause"
}

login() { # the token goes to a file that only we can read
  local n code
  for ((n = 1; ; n++)); do
    : >"$dir/head"
    code=$(printf %s "$RIN_CLIENT_SECRET" | curl -sS -m 10 -D "$dir/head" -o "$dir/answer" -w '%{http_code}' \
      -d grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@- "$RIN_TOKEN_URL") || code=000
    if [[ $code == 200 ]] && jq -er '.access_token | strings | "Authorization: Bearer \(.)"' "$dir/answer" >"$dir/auth" 2>/dev/null; then
      rm "$dir/answer"
      return 0
    fi
    case $code in
      000 | 200 | 429 | 5??) linger "$n" "token endpoint: $code" || return 1 ;;
      *) log "token endpoint: $code"; return 1 ;;
    esac
  done
}

# page URL: leaves the page in $dir/page.json and its next link in NEXT
page() {
  local url=$1 key n=1 code renewed=0 hops=0 empty=0 to count cond
  key=$dir/cache-$(sha256sum <<<"$1" | cut -c1-16)
  while :; do
    cond=()
    [[ ! -s $key.etag ]] || cond=(-H "If-None-Match: $(<"$key.etag")")
    : >"$dir/head"
    code=$(curl -sS -m 12 -D "$dir/head" -o "$dir/body" -w '%{http_code}' -H "@$dir/auth" \
      -H 'Accept: application/json' "${cond[@]}" "$url") || code=000
    case $code in
      200)
        if count=$(jq -e 'if type == "array" then length else error end' "$dir/body" 2>/dev/null); then
          NEXT=$(value link | grep -oP '<\K[^>]+(?=>; rel="next")' || true)
          if [[ -n $NEXT && $count == 0 ]] && ((++empty < 3)); then
            linger $((n++)) 'an empty page before the end' || return 1
            continue
          fi
          if [[ -z $NEXT || $count == "$SIZE" ]]; then
            value etag >"$key.etag"; cp "$dir/body" "$key.json"; echo "$NEXT" >"$key.next"
          fi
          mv "$dir/body" "$dir/page.json"
          return 0
        fi
        linger $((n++)) 'an incomplete answer' || return 1 ;;
      304) cp "$key.json" "$dir/page.json"; NEXT=$(<"$key.next"); return 0 ;;
      401)
        if ((renewed++)); then log "401 again: $(value www-authenticate)"; return 1; fi
        login || return 1 ;;
      301 | 302 | 307 | 308)
        to=$(value location)
        [[ $to != /* ]] || to=$SITE$to
        if [[ $(site "$to") != "$SITE" ]] || ((++hops > 3)); then log "redirected to $to"; return 1; fi
        url=$to ;;
      000 | 429 | 5??) linger $((n++)) "status $code" || return 1 ;;
      *) log "status $code: $(head -c 150 "$dir/body")"; return 1 ;;
    esac
  done
}

# list KIND: prints the ids and names of all fundings of this kind, page after page
list() {
  local url="$RIN_FUNDINGS_URL?fundingType=$1&page%5Bpage%5D=0&page%5Bsize%5D=$SIZE"
  while [[ -n $url ]]; do
    page "$url" || return 1
    jq -r '.[] | [.id, (.name[0].text // "-")] | @tsv' "$dir/page.json"
    url=$NEXT
    case $url in
      '' | "$SITE"/*) ;;
      /*) url=$SITE$url ;;
      *) log "the next page is elsewhere: $url"; return 1 ;;
    esac
  done
}

login
declare -A names=()
for ((round = 1; round <= ROUNDS; round++)); do
  ((round == 1)) || sleep "$EVERY"
  fresh=0 total=0
  for kind in "${KINDS[@]}"; do
    while IFS=$'\t' read -r id name; do
      total=$((total + 1))
      if [[ -z ${names[$id]+known} ]]; then
        fresh=$((fresh + 1))
        ((round == 1)) || echo "NEW $kind $id $name"
      fi
      names[$id]=$name
    done < <(list "$kind")
  done
  echo "round $round: $total fundings, $fresh of them new"
done
