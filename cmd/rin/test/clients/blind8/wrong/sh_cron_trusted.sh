#!/usr/bin/env bash
# Cron job: the ids and deadlines of all fundings as TSV, with curl and jq.
set -euo pipefail
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "cron: $*" >&2; exit 1; }

origin() { sed -E 's#^([a-z]+://[^/?]+).*#\1#' <<<"$1"; }

header() { # header FILE NAME: the values of a header, of the last answer
  tr -d '\r' <"$1" | awk -v n="$2" 'BEGIN{n=tolower(n)":"} /^HTTP\//{v=""} tolower(substr($0,1,length(n)))==n{x=substr($0,length(n)+1); sub(/^ +/,"",x); v=v (v==""?"":", ") x} END{print v}'
}

pause_asked() { # seconds, or nothing
  local v d
  v=$(header "$work/head" Retry-After)
  [[ -z $v ]] && return 0
  if [[ $v =~ ^[0-9]+$ ]]; then echo "$v"; return 0; fi
  v=$(date -d "$v" +%s 2>/dev/null) || return 0
  d=$(header "$work/head" Date)
  d=$(date -d "${d:-now}" +%s)
  echo $((v > d ? v - d : 0))
}

# call URL CONFIG FILTER: sets status; head in $work/head, and in $work/rows what the jq filter makes of a complete
# answer. CONFIG is read by curl, so that neither token nor secret is on the command line.
call() {
  local url=$1 config=$2 filter=$3 errors=0 waits=0 wait
  while :; do
    status=$(curl -q -sg --location-trusted --max-redirs 5 --max-time 20 -D "$work/head" -o "$work/body" -w '%{http_code}' -K "$config" -- "$url") || status=000
    if [[ $status == 200 ]]; then
      jq -r "$filter" "$work/body" >"$work/rows" 2>/dev/null && { at=$url; return 0; }
      status=000
    fi
    wait=""
    [[ $status == 429 || $status == 503 ]] && wait=$(pause_asked)
    if [[ -n $wait ]]; then
      waits=$((waits + 1))
      (( waits <= 5 && wait <= 900 )) || die "$url: $status, wait $wait s"
      sleep "$wait.2"
    elif [[ $status == 000 || $status == 429 || $status == 5?? ]]; then
      errors=$((errors + 1))
      (( errors <= 3 )) || die "$url: $status"
      sleep "$errors"
    else
      return 0
    fi
  done
}

login() {
  jq -rn '"grant_type=client_credentials", "client_id=" + env.RIN_CLIENT_ID, "client_secret=" + env.RIN_CLIENT_SECRET
    | "data-urlencode = " + @json' >"$work/login"
  call "$RIN_TOKEN_URL" "$work/login" '.access_token // "", (.expires_in // 86400 | tonumber | floor)'
  [[ $status == 200 ]] || die "no token: $status"
  local token life
  { read -r token; read -r life; } <"$work/rows"
  [[ -n $token ]] || die "no token in the answer"
  until=$((SECONDS + life * 4 / 5))
  printf 'header = "Authorization: Bearer %s"\nheader = "Accept: application/json"\n' "$token" >"$work/bearer"
}

get() {
  [[ -e $work/bearer ]] && (( SECONDS < until )) || login
  call "$1" "$work/bearer" "$rows"
  if [[ $status == 401 ]]; then
    login
    call "$1" "$work/bearer" "$rows"
  fi
  [[ $status == 200 ]] || die "$1: $status $(header "$work/head" WWW-Authenticate)"
}

page() { echo "$RIN_FUNDINGS_URL?page%5Bpage%5D=$1&page%5Bsize%5D=120"; }

rows='if type == "array" then .[] else error("no array") end
  | [.id, .type, ([.callStages[]?.callStageEnd] | max // ""), (.name[0].text // "")] | @tsv'
url=$(page 0) skip=0 pages=0 idle=0
declare -A known=() asked=()
: >"$work/out"
while [[ -n $url ]]; do
  [[ -z ${asked[$url]:-} ]] && (( pages < 25 )) || die "no end after $pages pages"
  asked[$url]=1 pages=$((pages + 1))
  get "$url"
  n=0 fresh=0
  while IFS= read -r row; do
    n=$((n + 1)) id=${row%%$'\t'*}
    if [[ -z ${known[$id]:-} ]]; then
      known[$id]=1 fresh=$((fresh + 1))
      printf '%s\n' "$row" >>"$work/out"
    fi
  done <"$work/rows"
  skip=$((skip + n))
  if (( n > 0 && fresh == 0 )); then idle=$((idle + 1)); else idle=0; fi
  (( idle < 3 )) || die "the pages repeat themselves"
  link=$(header "$work/head" Link)
  if [[ -n $link ]]; then
    url=$(grep -oE '<[^>]*> *;[^<]*' <<<"$link" | grep -E 'rel="?next' | head -1 | sed -E 's/^<([^>]*)>.*/\1/' || true)
    [[ $url == /* ]] && url=$(origin "$at")$url
    [[ $url == \?* ]] && url=${at%%\?*}$url
    [[ -z $url || $(origin "$url") == "$(origin "$RIN_FUNDINGS_URL")" ]] || die "the next page is at $url"
  elif (( n > 0 )); then
    url=$(page "$skip")
  else
    url=""
  fi
done
sort "$work/out"
echo "$(wc -l <"$work/out") fundings" >&2
