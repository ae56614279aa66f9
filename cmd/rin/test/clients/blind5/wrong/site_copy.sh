#!/bin/sh
# Nightly copy of the running calls, page by page, for the site generator. Needs curl.
set -u
umask 077
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
began=$(date +%s)
limit=100
token=

die() { echo "copy: $*" >&2; exit 1; }

header() { # the last value of a header of the answer
  tr -d '\r' <"$work/head" | sed -n "s/^$1: *//Ip" | tail -n 1
}

pause() { # $1: number of the attempt
  wanted=$(header 'retry-after')
  case $wanted in
    '') secs=$1 ;;
    *[!0-9]*) at=$(date -d "$wanted" +%s 2>/dev/null) || at=$(($(date +%s) + $1))
              secs=$((at - $(date +%s) + 1)); [ "$secs" -ge 1 ] || secs=1 ;;
    *) secs=$wanted ;;
  esac
  [ $(($(date +%s) - began + secs)) -lt $limit ] || die "the node asks for a pause of $secs s"
  sleep "$secs"
}

# request CONFIG: what to send comes in a file, so that no secret is in the process list
request() {
  try=1
  wait=1
  while :; do
    : >"$work/head"
    code=$(curl -sS --globoff --max-time 25 -K "$1" -D "$work/head" -o "$work/body" \
      -w '%{http_code}' 2>>"$work/errors")
    rc=$?
    case $rc/$code in
      0/200) last=$(tail -c 1 "$work/body")
             case $last in ']' | '}') return 0 ;; esac ;;
      0/429 | 0/500 | 0/502 | 0/503 | 0/504) ;;
      0/*) return 0 ;;
    esac
    [ $try -lt 4 ] || die "gave up, curl $rc, status $code"
    [ $rc -eq 0 ] || : >"$work/head"
    pause $wait
    try=$((try + 1))
    wait=$((wait * 2))
  done
}

login() {
  cat >"$work/login" <<END
url = "$RIN_TOKEN_URL"
data-urlencode = "grant_type=client_credentials"
data-urlencode = "client_id=$RIN_CLIENT_ID"
data-urlencode = "client_secret=$RIN_CLIENT_SECRET"
END
  request "$work/login"
  [ "$code" = 200 ] || die "no token, status $code"
  token=$(sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p' "$work/body")
  life=$(sed -n 's/.*"expires_in" *: *\([0-9]*\).*/\1/p' "$work/body")
  [ -n "$token" ] || die 'no token in the answer'
  until=$(($(date +%s) + ${life:-60} * 4 / 5))
}

origin=$(printf '%s' "$RIN_FUNDINGS_URL" | sed 's|^\([a-z]*://[^/]*\).*|\1|')
absolute() {
  case $1 in
    "$origin"/*) printf '%s' "$1" ;;
    /*) printf '%s%s' "$origin" "$1" ;;
    \?*) printf '%s%s' "$RIN_FUNDINGS_URL" "$1" ;;
    *) return 1 ;;
  esac
}

# api URL: an answer with a token, renewed when it is old and once when it is refused
api() {
  want=$1
  hops=0
  refused=0
  while :; do
    [ -n "$token" ] && [ "$(date +%s)" -lt "$until" ] || login
    printf 'url = "%s"\nheader = "Authorization: Bearer %s"\n' "$want" "$token" >"$work/get"
    request "$work/get"
    case $code in
      200) return 0 ;;
      401) [ $refused -eq 0 ] || die 'the token is refused'
           refused=1; token= ;;
      301 | 302 | 307 | 308)
           hops=$((hops + 1)); [ $hops -le 5 ] || die 'too many redirects'
           want=$(absolute "$(header location)") || die 'redirect to another host' ;;
      *) die "status $code" ;;
    esac
  done
}

follow() { # writes the files of one page after the other
  url=$1
  pages=0
  while [ -n "$url" ]; do
    api "$url"
    pages=$((pages + 1))
    cp "$work/body" "$work/out/page-$pages.json"
    grep -o '"id" *: *"XF-[0-9]*" *, *"type" *: *"[A-Z_]*CALL"' "$work/body" | cut -d '"' -f 4
    next=$(tr -d '\r' <"$work/head" | sed -n 's/^link: *//Ip' | tr ',' '\n' |
      sed -n 's/^ *<\([^>]*\)>.*rel="next".*/\1/p' | head -n 1)
    [ -n "$next" ] || return 0
    before=$url
    url=$(absolute "$next") || die 'next link to another host'
    [ "$url" != "$before" ] && [ $pages -lt 500 ] || die 'no end of pages'
  done
}

mkdir "$work/out"
login
follow "$RIN_FUNDINGS_URL?runningCalls=true&page%5Bpage%5D=0&page%5Bsize%5D=25" | sort -u >"$work/ids"
target=$(mktemp -d) || die 'no folder'
mv "$work"/out/*.json "$work/ids" "$target"/ || die 'nothing to move'
echo "$(wc -l <"$target/ids") calls copied"
