#!/bin/bash
# Watches the list of funding calls: ROUNDS rounds, EVERY seconds apart, and says what came,
# what went and what changed since the round before. Pages that did not change cost a 304.
# Needs curl and jq. 0: all rounds were complete.
set -euo pipefail
umask 077
export LC_ALL=C
: "${RIN_TOKEN_URL:?}" "${RIN_FUNDINGS_URL:?}" "${RIN_CLIENT_ID:?}" "${RIN_CLIENT_SECRET:?}"
ROUNDS=3 EVERY=4 SIZE=60 TRIES=5 BUDGET=52
command -v jq >/dev/null || { echo 'watch: jq is missing' >&2; exit 69; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf 'watch: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

origin() { printf '%s' "$1" | sed -E 's#^(https?://[^/?#]+).*#\1#'; }
HOME_ORIGIN=$(origin "$RIN_FUNDINGS_URL")

header() { # FILE NAME -> value of the last such header
  tr -d '\r' <"$1" | awk -v n="$2" 'BEGIN{n=tolower(n)":"} tolower(substr($0,1,length(n)))==n{v=substr($0,length(n)+1);sub(/^ +/,"",v)} END{print v}'
}

pause_for() { # HEADERS ATTEMPT -> seconds: Retry-After in both forms, else growing
  local wish at served
  wish=$(header "$1" retry-after)
  if [[ $wish =~ ^[0-9]+$ ]]; then echo "$wish"; return; fi
  if [[ -n $wish ]] && at=$(date -d "$wish" +%s 2>/dev/null); then
    served=$(date -d "$(header "$1" date)" +%s 2>/dev/null || date +%s)
    echo $((at > served ? at - served : 0)); return
  fi
  echo $((1 << ($2 - 1)))
}

rest() { # HEADERS ATTEMPT REASON: wait before the next attempt, or give up
  local secs; secs=$(pause_for "$1" "$2")
  (($2 < TRIES)) || die "$3, after $2 attempts"
  ((SECONDS + secs < BUDGET)) || die "$3, and a pause of $secs s is too long"
  say "$3; waiting $secs s"
  sleep "$secs"
}

sign_in() { # writes $work/auth, a header for curl -H @file: no secret among the arguments
  local n code
  for ((n = 1; ; n++)); do
    : >"$work/th"
    code=$(printf %s "$RIN_CLIENT_SECRET" | curl -sS -m 12 -o "$work/token" -D "$work/th" -w '%{http_code}' \
      -H 'Accept: application/json' -d grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
      --data-urlencode client_secret@- "$RIN_TOKEN_URL") || code=000
    if [[ $code == 200 ]] && jq -er '"Authorization: Bearer " + (.access_token | strings)' "$work/token" >"$work/auth" 2>/dev/null; then
      rm -f "$work/token"; return
    fi
    case $code in 000 | 200 | 429 | 5??) rest "$work/th" "$n" "token endpoint: $code" ;; *) die "token endpoint: $code" ;; esac
  done
}

page() { # URL: leaves a complete page in $work/pages/KEY.json, its next link in KEY.next
  local key url=$1 n=1 code renewed= hops=0 to next count empties=0
  key=$work/pages/$(printf %s "$1" | sha256sum | cut -c1-20)
  while :; do
    local args=(-sS -m 12 --compressed -o "$work/body" -D "$work/head" -w '%{http_code}' -H "@$work/auth" -H 'Accept: application/json')
    [[ -s $key.etag ]] && args+=(-H "If-None-Match: $(<"$key.etag")")
    : >"$work/head"; : >"$work/body"
    code=$(curl "${args[@]}" "$url") || code=000
    case $code in
      304) [[ -s $key.json ]] && { KEY=$key; return; }; die '304 without a question' ;;
      200)
        if jq -e 'type == "array"' "$work/body" >/dev/null 2>&1; then
          next=$(header "$work/head" link | grep -oP '<\K[^>]*(?=>; *rel="?next)' || true)
          count=$(jq length "$work/body")
          if [[ -n $next && $count == 0 && $((empties++)) -lt 2 ]]; then
            rest "$work/head" $((n++)) 'an empty page with a next one'; continue
          fi
          mv "$work/body" "$key.json"
          printf %s "$next" >"$key.next"
          if [[ -z $next || $count == "$SIZE" ]]; then header "$work/head" etag >"$key.etag"; else rm -f "$key.etag"; fi
          KEY=$key; return
        fi
        rest "$work/head" $((n++)) 'not a complete JSON array' ;;
      401)
        [[ -z $renewed ]] || die "401 with a new token: $(header "$work/head" www-authenticate)"
        renewed=yes; sign_in ;;
      301 | 302 | 307 | 308)
        to=$(header "$work/head" location)
        [[ $to == /* ]] && to=$HOME_ORIGIN$to
        [[ $(origin "$to") == "$HOME_ORIGIN" ]] && ((++hops <= 3)) || die "redirected to $to; the token stays here"
        url=$to ;;
      000 | 429 | 5??) rest "$work/head" $((n++)) "status $code" ;;
      *) die "status $code: $(head -c 200 "$work/body")" ;;
    esac
  done
}

mkdir "$work/pages"
sign_in
for ((round = 1; round <= ROUNDS; round++)); do
  ((round == 1)) || sleep "$EVERY"
  url="$RIN_FUNDINGS_URL?page%5Bpage%5D=0&page%5Bsize%5D=$SIZE"
  : >"$work/rows"; : >"$work/been"
  while [[ -n $url ]]; do
    ! grep -qxF "$url" "$work/been" || die 'the pages go round in a circle'
    echo "$url" >>"$work/been"
    page "$url"
    jq -r '.[] | [.id, (tojson | @base64)] | @tsv' "$KEY.json" >>"$work/rows"
    url=$(<"$KEY.next")
    case $url in '') ;; /*) url=$HOME_ORIGIN$url ;;
      *) [[ $(origin "$url") == "$HOME_ORIGIN" ]] || die "the next page is on another host: $url" ;; esac
  done
  sort -u -k1,1 "$work/rows" >"$work/now"       # one of each id
  if ((round == 1)); then
    echo "round 1: $(wc -l <"$work/now") fundings"
  else
    cut -f1 "$work/old" >"$work/a"; cut -f1 "$work/now" >"$work/b"
    changed=$(comm -13 "$work/old" "$work/now" | cut -f1 | comm -12 - "$work/a" | wc -l)
    echo "round $round: $(wc -l <"$work/now") fundings, $(comm -13 "$work/a" "$work/b" | wc -l) new, $(comm -23 "$work/a" "$work/b" | wc -l) gone, $changed changed"
  fi
  mv "$work/now" "$work/old"
done
