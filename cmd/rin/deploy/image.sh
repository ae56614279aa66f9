#!/usr/bin/env bash
# Builds the container image of this source tree: cmd/rin/deploy/image.sh [NAME]. Needs Go, certificate authorities, and podman, buildah or docker.
#
#   BUILD           the command that builds (podman build, buildah build or docker build)
#   CA_CERTIFICATES the authorities that go in (those of this machine)
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=${1:-rin}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

build=${BUILD:-}
for engine in podman buildah docker; do
  if [ -z "$build" ] && command -v "$engine" >/dev/null; then build="$engine build"; fi
done
: "${build:?install podman, buildah or docker}"
authorities=${CA_CERTIFICATES:-}
for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  if [ -z "$authorities" ] && [ -f "$file" ]; then authorities=$file; fi
done
root=$context/root
umask 022
mkdir -p "$root/etc/ssl/certs" "$root/usr/bin" "$root/tmp"
chmod 1777 "$root/tmp"
cp "${authorities:?name a file with certificate authorities in CA_CERTIFICATES}" "$root/etc/ssl/certs/ca-certificates.crt"
cp LICENSE "$root/"
# Without inlining outside the standard library the program has 44 MB instead of 49, and a run of it takes about a sixth longer.
small=()
for modules in github.com golang.org go.yaml.in go.etcd.io; do small+=("-gcflags=$modules/...=-l"); done
CGO_ENABLED=0 GOOS=linux "${GO:-go}" build -trimpath -ldflags '-s -w' "${small[@]}" -o "$root/usr/bin/rin" ./cmd/rin

commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%FT%TZ)
options=()
case $build in *docker*) ;; *) options=(--format docker) ;; esac # the OCI format has no health check
# shellcheck disable=SC2086 # BUILD may have options
$build "${options[@]}" -t "$name" --build-arg "VERSION=$(git describe --tags --always 2>/dev/null || echo devel)" --build-arg "REVISION=$commit" --build-arg "CREATED=$created" \
  -f cmd/rin/deploy/Containerfile "$context"
