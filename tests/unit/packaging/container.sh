#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# container.sh SOURCE: builds the image of .devcontainer/Dockerfile with one operation, and finds a race in it. 77: neither docker, podman
# nor buildah can run a step in debian:12.
set -euo pipefail
cd "$1"
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
for tool in docker podman buildah ''; do
  [[ -n $tool ]] || { echo 'skipped: neither docker, podman nor buildah runs a step in debian:12 here'; exit 77; }
  ! printf 'FROM debian:12\nRUN true\n' | "$tool" build -t kernelgrade-base -f - "$empty" >/dev/null 2>&1 || break
done
$tool build -f .devcontainer/Dockerfile --build-arg OPS=axpy -t kernelgrade-built .
$tool build -t kernelgrade-used -f - "$empty" <<'END'
FROM kernelgrade-built
RUN kernelgrade check /opt/kernelgrade/examples/check/race.cu | grep -F '[race] kernel reverse_chunks'
END
