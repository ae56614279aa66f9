#!/bin/sh
# What the spreadsheet macro calls: CSV of all open calls on standard output, nothing on it if anything went wrong.
# curl and jq; the secret and the token go through files of config, not through the list of processes.
set -eu
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
umask 077
ask() { # ask NAME CURL-ARGUMENTS...: leaves $d/NAME.body, $d/NAME.head; prints the status
  n=$1; shift; try=0
  while :; do
    s=$(curl -sS -g --max-time 30 -o "$d/$n.body" -D "$d/$n.head" -w '%{http_code}' "$@") || { echo "curl: $?" >&2; return 1; }
    case $s in 429|503) ;; *) echo "$s"; return 0 ;; esac
    try=$((try + 1))
    [ $try -lt 6 ] || { echo "$s"; return 0; }
    w=$(tr -d '\r' <"$d/$n.head" | sed -n 's/^[Rr]etry-[Aa]fter: *//p' | tail -1)
    case $w in
      '') w=2 ;;
      *[!0-9]*) now=$(tr -d '\r' <"$d/$n.head" | sed -n 's/^[Dd]ate: *//p' | tail -1)
         w=$(( $(date -d "$w" +%s) - $(date -d "$now" +%s) )) ;;
    esac
    [ "$w" -le 20 ] || { echo "$s"; return 0; }
    [ "$w" -ge 1 ] || w=1
    sleep "$w.1"
  done
}
login() {
  printf '%s' "$RIN_CLIENT_SECRET" >"$d/secret"
  s=$(ask token "$RIN_TOKEN_URL" -d grant_type=client_credentials --data-urlencode "client_id=$RIN_CLIENT_ID" --data-urlencode "client_secret@$d/secret")
  [ "$s" = 200 ] || { echo "token endpoint: $s" >&2; exit 1; }
  t=$(jq -er .access_token "$d/token.body")
  printf 'header = "Authorization: Bearer %s"\n' "$t" >"$d/auth"
}
origin() { printf '%s' "$1" | sed -n 's#^\(https*://[^/?]*\).*#\1#p'; }
home=$(origin "$RIN_FUNDINGS_URL")
login
u="$RIN_FUNDINGS_URL?runningCalls=true&page[size]=60"; skip=0
: >"$d/all"; : >"$d/seen"
while [ -n "$u" ]; do
  [ "$(origin "$u")" = "$home" ] || { echo "not my node: $u" >&2; exit 1; }
  if grep -qxF "$u" "$d/seen"; then echo "pages in a circle" >&2; exit 1; fi
  printf '%s\n' "$u" >>"$d/seen"
  s=$(ask page -K "$d/auth" "$u")
  if [ "$s" = 401 ]; then login; s=$(ask page -K "$d/auth" "$u"); fi
  [ "$s" = 200 ] || { echo "$s for $u" >&2; exit 1; }
  jq -e 'type == "array"' "$d/page.body" >/dev/null
  jq -c '.[]' "$d/page.body" >>"$d/all"
  link=$(tr -d '\r' <"$d/page.head" | sed -n 's/^[Ll]ink: *//p')
  n=$(printf '%s' "$link" | tr ',' '\n' | sed -n 's/.*<\([^>]*\)>; *rel="next".*/\1/p')
  if [ -z "$n" ] && [ -z "$link" ] && [ "$(jq length "$d/page.body")" -gt 0 ]; then
    skip=$((skip + 60)); n="$RIN_FUNDINGS_URL?runningCalls=true&page[size]=60&page[page]=$skip"
  fi
  case $n in '') u= ;; /*) u=$home$n ;; *://*) u=$n ;; *) echo "odd link $n" >&2; exit 1 ;; esac
done
jq -rs 'unique_by(.id)[] | [.id, .type, .name[0].text, (.callStages[0].callStageEnd // ""), (.maxProjectVolume.amount // "")] | @csv' "$d/all"
