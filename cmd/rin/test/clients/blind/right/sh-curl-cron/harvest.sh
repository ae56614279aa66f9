#!/bin/sh
# A crontab line's script: curl with --retry, which follows Retry-After, and jq-free paging by Link.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

login() {
	printf 'grant_type=client_credentials&client_id=%s&client_secret=%s' "$RIN_CLIENT_ID" "$RIN_CLIENT_SECRET" |
		curl -sS --fail --retry 6 --retry-all-errors --max-time 60 --data @- "$RIN_TOKEN_URL" |
		sed -n 's/.*"access_token":"\([^"]*\)".*/header = "Authorization: Bearer \1"/p' >"$dir/auth"
	test -s "$dir/auth"
}

get() {
	curl -sS -g -K "$dir/auth" --retry 6 --max-time 60 -D "$dir/head" -o "$dir/body" -w '%{http_code}' "$1"
}

login
origin=$(printf %s "$RIN_FUNDINGS_URL" | sed 's|^\(https\{0,1\}://[^/]*\).*|\1|')
url="$RIN_FUNDINGS_URL?page%5Bpage%5D=0&page%5Bsize%5D=60"
count=0
while [ -n "$url" ]; do
	status=$(get "$url") || status=$(sleep 2; get "$url")
	if [ "$status" = 401 ]; then
		login
		status=$(get "$url")
	fi
	if [ "$status" != 200 ]; then
		echo "$url answered $status" >&2
		exit 1
	fi
	python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$dir/body" >"$dir/count"
	count=$((count + $(cat "$dir/count")))
	next=$(tr -d '\r' <"$dir/head" | sed -n 's/^[Ll]ink:.*<\([^>]*\)>; *rel="next".*/\1/p' | tail -1)
	case $next in
	"") url= ;;
	/*) url=$origin$next ;;
	"$origin"/*) url=$next ;;
	*) echo "next page on another host: $next" >&2; exit 1 ;;
	esac
done
echo "$count fundings"
