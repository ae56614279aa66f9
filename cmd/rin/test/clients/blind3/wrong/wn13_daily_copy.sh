#!/bin/sh
# From cron: keeps a copy of the running calls and asks only for a newer list.
# wn13_daily_copy.sh [file]
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
header = "Authorization: Bearer $TOKEN"
header = "If-Modified-Since: $SINCE"
EOF
        case $S in
            304) return ;;
            200) jq -es 'length == 1 and (.[0] | type == "array")' "$T/b" >/dev/null 2>&1 && return; S="broken JSON" ;;
            401) [ -z "$again" ] || fail "list: 401 again"
                k=$n; again=1; token; n=$k; continue ;;
            000|429|5??) ;;
            *) fail "list: $S $(head -c 200 "$T/b")" ;;
        esac
        rest "$n" "list: $S"
        n=$((n + 1))
    done
}

COPY=${1:-${TMPDIR:-/tmp}/running-calls-$(printf %s "$RIN_FUNDINGS_URL" | cksum | cut -d' ' -f1).json}
if [ -s "$COPY" ]; then
    SINCE=$(date -R -r "$COPY")
else
    SINCE=$(date -R -d @0)
fi
token
list "$RIN_FUNDINGS_URL?runningCalls=true"
if [ "$S" = 304 ]; then
    echo "not modified since $SINCE"
else
    cp "$T/b" "$COPY.$$" && mv "$COPY.$$" "$COPY" || fail "cannot store"
    echo "$(jq length "$COPY") running calls in $COPY"
fi
