#!/bin/bash
# Cron job: text of the weekly mail. curl does the repetitions itself (--retry: 408, 429, 500, 502, 503, 504; it keeps to
# Retry-After). The list is read as a whole, once per kind. If something fails, there is no mail, and cron tells the admin.
set -o pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
die() { echo "digest: $*" >&2; exit 1; }
CURL=(curl -sS -g --fail --retry 4 --max-time 60 --connect-timeout 5)
login() {
  "${CURL[@]}" "$RIN_TOKEN_URL" -o "$T/token" --data-urlencode grant_type=client_credentials \
    --data-urlencode "client_id=$RIN_CLIENT_ID" --data-urlencode client_secret@- < <(printf %s "$RIN_CLIENT_SECRET") || die "no token"
  printf 'Authorization: Bearer %s' "$(jq -er .access_token "$T/token")" >"$T/auth" || die "no token in the answer"
}
get() { # get URL FILE
  rm -f "$2"
  local s; s=$("${CURL[@]}" -H @"$T/auth" -o "$2" -D "$2.head" -w '%{http_code}' "$1" 2>"$T/err"); local rc=$?
  if [[ $s == 401 && -z $3 ]]; then login; get "$1" "$2" again; return; fi
  [[ $rc == 0 && $s == 200 ]] || die "$s ($(cat "$T/err")) for $1"
  jq -e 'type == "array"' "$2" >/dev/null 2>&1 || die "no list from $1"
  if grep -qi '^link:.*rel="next"' "$2.head"; then die "$1 has pages"; fi
}
login
for kind in AWARD SCHOLARSHIP ONGOING_CALL; do
  get "$RIN_FUNDINGS_URL?fundingType=$kind" "$T/$kind"
done
for kind in AWARD SCHOLARSHIP ONGOING_CALL; do
  printf '\n%s\n' "$kind"
  jq -r 'unique_by(.id)[] | "  * \((.name[] | select(.lang == "en") | .text) // .name[0].text)  [\(.id)]"' "$T/$kind" || die "odd records"
done
