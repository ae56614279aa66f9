#!/bin/sh
# rn07_first_n.sh [n] [fundingType]: shows the first n fundings of a node (20 if not told).
# POSIX sh, curl, jq. Secrets go to curl through stdin, never through its arguments.
set -u
N=${1:-20}
TYPE=${2:-}
START=$(date +%s)
LIMIT=20
TRIES=5
: "${RIN_TOKEN_URL:?}" "${RIN_FUNDINGS_URL:?}" "${RIN_CLIENT_ID:?}" "${RIN_CLIENT_SECRET:?}"
umask 077
W=$(mktemp -d) || exit 3
trap 'rm -rf "$W"' EXIT
trap 'exit 4' INT TERM

say() { echo "first_n: $*" >&2; }
die() { say "$*"; exit 1; }
quote() { printf %s "$1" | sed 's/[\\"]/\\&/g'; }
origin() { printf %s "$1" | sed -n 's,^\([a-zA-Z]*://[^/?#]*\).*,\1,p'; }
field() { tr -d '\r' <"$W/head" | sed -n "s/^$1:[[:space:]]*//Ip" | tail -n 1; }

# request URL: the rest of curl's configuration comes on stdin. Sets CODE; body in $W/body.
request() {
    cat >"$W/conf"
    url=$1 hop=0
    while :; do
        : >"$W/head"; : >"$W/body"
        left=$((LIMIT - $(date +%s) + START))
        [ "$left" -gt 0 ] || die "out of time"
        [ "$left" -lt 8 ] || left=8
        OUT=$(curl -sS -g -m "$left" -K "$W/conf" -D "$W/head" -o "$W/body" \
              -w '%{http_code} %{redirect_url}' "$url" 2>"$W/err")
        RC=$?
        CODE=${OUT%% *} to=${OUT#* }
        [ "$RC" -eq 0 ] || { CODE=000; return; }
        case $CODE in 301|302|303|307|308) ;; *) return ;; esac
        hop=$((hop + 1))
        [ -n "$to" ] && [ "$hop" -le 3 ] && [ "$(origin "$to")" = "$(origin "$url")" ] ||
            die "redirect ($CODE) to '$to' not followed"
        if [ "$CODE" -lt 307 ] && grep -q data-urlencode "$W/conf"; then die "POST redirected with $CODE"; fi
        url=$to
    done
}

# pause TRY WHY: sleeps as long as Retry-After says, or 1, 2, 3 ... seconds; dies after the last try.
pause() {
    [ "$1" -lt "$TRIES" ] || die "$2 (tried $1 times)"
    s=$1
    ra=$(field retry-after)
    case $ra in
        '') ;;
        *[!0-9]*)
            now=$(date -d "$(field date)" +%s 2>/dev/null) || now=$(date +%s)
            at=$(date -d "$ra" +%s 2>/dev/null) && s=$((at - now)) && { [ "$s" -ge 1 ] || s=1; } ;;
        *) s=$ra; [ "$s" -ge 1 ] || s=1 ;;
    esac
    [ $(($(date +%s) + s)) -lt $((START + LIMIT)) ] || die "$2; a pause of $s s is too long for this run"
    say "$2; again in $s s"
    sleep "$s"
}

login() {
    t=1
    while :; do
        request "$RIN_TOKEN_URL" <<EOF
header = "Accept: application/json"
data-urlencode = "grant_type=client_credentials"
data-urlencode = "client_id=$(quote "$RIN_CLIENT_ID")"
data-urlencode = "client_secret=$(quote "$RIN_CLIENT_SECRET")"
EOF
        why="token endpoint: $CODE"
        case $CODE in
            200) TOKEN=$(jq -er '.access_token | strings' "$W/body" 2>/dev/null) && return
                 why="token endpoint: unreadable answer" ;;
            429|5??) ;;
            000) why="token endpoint: $(head -n 1 "$W/err")" ;;
            *) die "token endpoint: $CODE $(head -c 200 "$W/body")" ;;
        esac
        pause "$t" "$why"
        t=$((t + 1))
    done
}

page() {
    t=1 renewed=
    while :; do
        request "$1" <<EOF
header = "Authorization: Bearer $TOKEN"
header = "Accept: application/json"
EOF
        why="list: $CODE"
        case $CODE in
            200) jq -es 'length == 1 and (.[0] | type == "array")' "$W/body" >/dev/null 2>&1 && return
                 why="list: broken JSON" ;;
            401) [ -z "$renewed" ] || die "list: 401 with a new token, too"
                 renewed=1; login; continue ;;
            429|5??) ;;
            000) why="list: $(head -n 1 "$W/err")" ;;
            *) die "list: $CODE $(head -c 200 "$W/body")" ;;
        esac
        pause "$t" "$why"
        t=$((t + 1))
    done
}

# The rel="next" target of the last answer, absolute; empty if there is none.
next() {
    link=$(tr -d '\r' <"$W/head" | sed -n 's/^link:[[:space:]]*//Ip' | sed 's/,[[:space:]]*</\
</g' | grep -iE ';[[:space:]]*rel[[:space:]]*=[[:space:]]*("([^"]* )?next( [^"]*)?"|next[[:space:]]*(;|,|$))' |
        head -n 1 | sed 's/^<\([^>]*\)>.*/\1/')
    case $link in
        '') ;;
        *://*) printf %s "$link" ;;
        /*) printf %s "$(origin "$1")$link" ;;
        \?*) printf %s "${1%%\?*}$link" ;;
        *) b=${1%%\?*}; printf %s "${b%/*}/$link" ;;
    esac
}

case $N in ''|*[!0-9]*|0) die "n must be a positive number" ;; esac
[ "$N" -le 10000 ] || N=10000
login
U="$RIN_FUNDINGS_URL?page%5Bpage%5D=0&page%5Bsize%5D=$N"
[ -z "$TYPE" ] || U="$U&fundingType=$TYPE"
shown=0 pages=0
while [ -n "$U" ] && [ "$shown" -lt "$N" ]; do
    pages=$((pages + 1))
    [ "$pages" -le 50 ] || die "more than 50 pages for $N records"
    [ "$(origin "$U")" = "$(origin "$RIN_FUNDINGS_URL")" ] || die "next link to another origin: $U"
    page "$U"
    jq -r --argjson k $((N - shown)) '.[:$k][] | [.id, .type,
        ((.name | map(select(.lang == "en")) + .)[0].text // "")] | @tsv' "$W/body" || die "cannot show the list"
    shown=$((shown + $(jq length "$W/body")))
    U=$(next "$U")
done
exit 0
