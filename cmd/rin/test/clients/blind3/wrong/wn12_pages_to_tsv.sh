#!/bin/sh
# All calls of a node as a table (id, acronym, programme, amount), page by page.
set -u
umask 077
: "${RIN_TOKEN_URL:?}" "${RIN_FUNDINGS_URL:?}" "${RIN_CLIENT_ID:?}" "${RIN_CLIENT_SECRET:?}"
T=$(mktemp -d) || exit 3
trap 'rm -rf "$T"' EXIT
END=$(($(date +%s) + 20))

fail() { echo "$0: $*" >&2; exit 1; }
esc() { printf %s "$1" | sed 's/[\\"]/\\&/g'; }
hdr() { tr -d '\r' <"$T/h" | sed -n "s/^$1: *//Ip" | tail -n 1; }

# ask URL <curl-config: one exchange; sets S (000: none)
ask() {
    : >"$T/h"; : >"$T/b"
    left=$((END - $(date +%s)))
    [ "$left" -gt 0 ] || fail "out of time"
    [ "$left" -lt 7 ] || left=7
    S=$(curl -sS -g -m "$left" -K - -D "$T/h" -o "$T/b" -w '%{http_code}' "$1" 2>"$T/e") || S=000
}

# rest N: pause before the next try
rest() {
    [ "$1" -lt 5 ] || fail "$2: tried $1 times"
    p=$1 ra=$(hdr retry-after)
    case $ra in
        '') ;;
        *[!0-9]*) d=$(hdr date)
            if at=$(date -d "$ra" +%s 2>/dev/null); then p=$((at - $(date -d "${d:-now}" +%s))); fi ;;
        *) p=$ra ;;
    esac
    [ "$p" -ge 1 ] || p=1
    [ $(($(date +%s) + p)) -lt "$END" ] || fail "$2: no time for a pause of $p s"
    echo "$2: next try in $p s" >&2
    sleep "$p"
}

token() {
    n=1
    while :; do
        ask "$RIN_TOKEN_URL" <<EOF
data-urlencode = "grant_type=client_credentials"
data-urlencode = "client_id=$(esc "$RIN_CLIENT_ID")"
data-urlencode = "client_secret=$(esc "$RIN_CLIENT_SECRET")"
EOF
        case $S in
            200) TOKEN=$(jq -er '.access_token | strings' "$T/b" 2>/dev/null) && return; S="broken JSON" ;;
            000|429|5??) ;;
            *) fail "token: $S $(head -c 200 "$T/b")" ;;
        esac
        rest "$n" "token: $S"
        n=$((n + 1))
    done
}

list() {
    n=1 again=
    while :; do
        ask "$1" <<EOF
header = "Authorization: Bearer $TOKEN"$2
EOF
        case $S in
            200) [ -z "$2" ] || return
                jq -es 'length == 1 and (.[0] | type == "array")' "$T/b" >/dev/null 2>&1 && return; S="broken JSON" ;;
            401) [ -z "$again" ] || fail "list: 401 again"
                k=$n; again=1; token; n=$k; continue ;;
            000|429|5??) ;;
            *) fail "list: $S $(head -c 200 "$T/b")" ;;
        esac
        rest "$n" "list: $S"
        n=$((n + 1))
    done
}

origin() { printf %s "$1" | sed -n 's,^\([a-zA-Z]*://[^/?#]*\).*,\1,p'; }

# next_page URL: where the page after this one is, empty if there is none.
next_page() {
    list "$1" "
head"
    l=$(hdr link | sed 's/, *</\
</g' | grep -iE ';[[:space:]]*rel="?([^";]* )?next[" ;]' | head -n 1 | sed 's/^<\([^>]*\)>.*/\1/')
    case $l in
        /*) l=$(origin "$1")$l ;;
        \?*) l=${1%%\?*}$l ;;
    esac
    NEXT=$l
}

token
U="$RIN_FUNDINGS_URL?fundingType=CALL&page%5Bpage%5D=0&page%5Bsize%5D=60"
pages=0
: >"$T/all"
while [ -n "$U" ]; do
    [ "$(origin "$U")" = "$(origin "$RIN_FUNDINGS_URL")" ] || fail "next link to another origin"
    pages=$((pages + 1))
    [ "$pages" -le 200 ] || fail "no end of pages"
    next_page "$U"
    list "$U" ""
    jq -r '.[] | [.id, .acronym // "-", .partOf.id // "-", .amount.amount // "-"] | @tsv' "$T/b" >>"$T/all" || fail "output"
    U=$NEXT
done
awk '!seen[$1]++' "$T/all"
