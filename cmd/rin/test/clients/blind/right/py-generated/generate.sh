#!/bin/sh
# Generates the package "generated" beside this file with openapi-python-client, from the document of a sandbox. RIN names the binary.
set -e
cd "$(dirname "$0")"
"${RIN:-rin}" client-test --scenario none -- sh -c \
	'openapi-python-client generate --url "$RIN_SPEC_URL" --output-path generated --overwrite --meta none' >&2
test -d generated/api
