#!/bin/sh
# Details of the running calls for Vienna, each in a file of its own.
umask 077
LIMIT=75
TRIES=5
BEGAN=$(date +%s)
DIR=$(mktemp -d) || exit 1
trap 'rm -rf "$DIR"' EXIT
trap 'exit 1' INT TERM
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

origin() { printf '%s\n' "$1" | sed 's|^\([a-z]*://[^/?#]*\).*|\1|'; }

# pause_for SECONDS: fails if the time left does not suffice
pause_for() {
    [ $(($(date +%s) - BEGAN + $1)) -lt "$LIMIT" ] || { say "no time left for a pause of $1 s"; return 1; }
    sleep "$1"
}

# wait_after ATTEMPT HEADERS: what the node asks for, else longer each time
wait_after() {
    asked=$(tr -d '\r' <"$2" | sed -n 's/^[Rr]etry-[Aa]fter: *//p' | tail -n 1)
    case $asked in
        '') pause_for $((1 << ($1 - 1))) ;;
        *[!0-9]*) until=$(date -d "$asked" +%s 2>/dev/null) || until=$(($(date +%s) + 5))
            rest=$((until - $(date +%s) + 1)); [ "$rest" -gt 0 ] || rest=1; pause_for "$rest" ;;
        *) pause_for "$asked" ;;
    esac
}

# the token is kept in a file that only this program can read
new_token() {
    try=1
    while :; do
        : >"$DIR/th"
        code=$(printf %s "$RIN_CLIENT_SECRET" | curl -sS -m 10 -D "$DIR/th" -o "$DIR/tb" -w '%{http_code}' \
            --data-urlencode grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" \
            --data-urlencode client_secret@- "$RIN_TOKEN_URL") || code=000
        if [ "$code" = 200 ]; then
            sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p' "$DIR/tb" >"$DIR/token"
            life=$(sed -n 's/.*"expires_in" *: *\([0-9]*\).*/\1/p' "$DIR/tb")
            life=${life:-60}
            echo $(($(date +%s) + life - life / 5 - 1)) >"$DIR/token_end"
            rm -f "$DIR/tb"
            [ -s "$DIR/token" ] && return 0
        fi
        case $code in 000 | 200 | 408 | 429 | 5??) ;; *) say "no token: status $code"; return 1 ;; esac
        [ "$try" -lt "$TRIES" ] || { say "no token after $try tries"; return 1; }
        wait_after "$try" "$DIR/th" || return 1
        try=$((try + 1))
    done
}

token_fresh() { [ -s "$DIR/token" ] && [ "$(date +%s)" -lt "$(cat "$DIR/token_end")" ]; }

# whole FILE: is it a JSON array or object that is complete?
whole() {
    sed 's/\\["\\]//g; s/"[^"]*"//g' "$1" | awk '{ o += gsub(/[[{]/, ""); c += gsub(/[]}]/, "") }
        END { exit !(o > 0 && o == c) }'
}

# fetch URL FILE [curl options]: prints status and address at the end; 0 only for a whole answer
fetch() {
    url=$1 out=$2; shift 2
    n=1 renewed='' hops=0
    while :; do
        : >"$out.h"
        auth=''
        if [ "$(origin "$url")" = "$(origin "$RIN_FUNDINGS_URL")" ]; then
            token_fresh || new_token || return 1
            auth="header = \"Authorization: Bearer $(cat "$DIR/token")\""
        fi
        got=$(printf '%s\n' "$auth" | curl -sS -g -K - -m 10 -H 'Accept: application/json' -D "$out.h" \
            -o "$out" -w '%{http_code} %{redirect_url}' "$@" "$url") || got="000 "
        code=${got%% *} to=${got#* }
        case $code in
            200) whole "$out" && { printf '%s %s\n' "$code" "$url"; return 0; } ;;
            301 | 302 | 303 | 307 | 308)
                hops=$((hops + 1))
                [ -n "$to" ] && [ "$hops" -le 5 ] || { say "bad redirect"; return 1; }
                url=$to; continue ;;
            401) [ -n "$auth" ] && [ -z "$renewed" ] || { say "status 401"; return 1; }
                renewed=1; new_token || return 1; continue ;;
            000 | 408 | 429 | 5??) ;;
            *) say "status $code for ${url%%\?*}"; return 1 ;;
        esac
        [ "$n" -lt "$TRIES" ] || { say "given up after $n tries, last status $code"; return 3; }
        wait_after "$n" "$out.h" || return 1
        n=$((n + 1))
    done
}

# next_url HEADERS URL: address of the next page, if there is one
next_url() {
    link=$(tr -d '\r' <"$1" | sed -n 's/^[Ll]ink: *//p' | tr ',' '\n' | sed -n 's/^ *<\([^>]*\)>.*rel="\{0,1\}next.*/\1/p' | head -n 1)
    case $link in
        '') ;;
        *://*) printf '%s\n' "$link" ;;
        /*) printf '%s%s\n' "$(origin "$2")" "$link" ;;
        \?*) printf '%s%s\n' "${2%%\?*}" "$link" ;;
        *) base=${2%%\?*}; printf '%s/%s\n' "${base%/*}" "$link" ;;
    esac
}

# records FILE: the records of an array, one a line
records() {
    awk '{ n = length($0)
        for (i = 1; i <= n; i++) {
            c = substr($0, i, 1)
            if (depth >= 2) rec = rec c
            if (str) { if (esc) esc = 0; else if (c == "\\") esc = 1; else if (c == "\"") str = 0; continue }
            if (c == "\"") str = 1
            else if (c == "{" || c == "[") { if (++depth == 2) rec = c }
            else if (c == "}" || c == "]") { if (--depth == 1) { print rec; rec = "" } }
        } }' "$1"
}

# harvest URL: the records of all pages, one a line
harvest() {
    at=$1 page=0
    while [ -n "$at" ]; do
        page=$((page + 1))
        [ "$page" -le 500 ] || { say "more pages than there can be"; return 1; }
        answer=$(fetch "$at" "$DIR/page") || return $?
        records "$DIR/page"
        at=$(next_url "$DIR/page.h" "${answer#* }")
    done
}

# details IDS: one file for each id, all over connections of one curl
details() {
    token_fresh || new_token || return 1
    while read -r id; do
        printf 'url = "%s/%s"\noutput = "%s"\ndump-header = "%s"\nmax-time = 10\nsilent\nshow-error\n' \
            "$RIN_FUNDINGS_URL" "$id" "$DIR/d/$id" "$DIR/h/$id"
        printf 'header = "Authorization: Bearer %s"\nwrite-out = "%%{http_code} %s\\n"\nnext\n' "$(cat "$DIR/token")" "$id"
    done <"$1" | sed '$d' >"$DIR/jobs"
    curl -sS -g --no-progress-meter --parallel --parallel-immediate --parallel-max 150 -K "$DIR/jobs" >"$DIR/codes" || say "not all at once"
}

harvest "$RIN_FUNDINGS_URL?region=VIENNA&runningCalls=true&page%5Bsize%5D=50" >"$DIR/all" || exit 1
sed -n 's/^{"id" *: *"\([A-Za-z0-9._-]*\)".*/\1/p' "$DIR/all" | sort -u >"$DIR/todo"
mkdir "$DIR/d" "$DIR/h" || exit 1
round=1 again=''
while [ -s "$DIR/todo" ]; do
    [ "$round" -le "$TRIES" ] || { say "$(wc -l <"$DIR/todo") details are missing"; exit 1; }
    if [ "$round" -gt 1 ]; then
        cat "$DIR"/h/* >"$DIR/heads" 2>/dev/null
        wait_after "$((round - 1))" "$DIR/heads" || exit 1
        rm -f "$DIR"/h/*
    fi
    details "$DIR/todo" || exit 1
    if grep -q '^401 ' "$DIR/codes"; then
        [ -z "$again" ] || { say "status 401 with a new token"; exit 1; }
        again=1
        rm -f "$DIR/token"
    fi
    ! grep -q '^40[0235] ' "$DIR/codes" || { say "details are refused"; exit 1; }
    while read -r id; do
        if grep -q "^404 $id\$" "$DIR/codes"; then say "$id is gone"
        elif grep -q "^200 $id\$" "$DIR/codes" && whole "$DIR/d/$id"; then cat "$DIR/d/$id"; echo
        else echo "$id" >&3; fi
    done <"$DIR/todo" 3>"$DIR/again"
    mv "$DIR/again" "$DIR/todo"
    round=$((round + 1))
done
