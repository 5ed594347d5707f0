#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_rehearsal.sh [--ops LIST] [--python PYTHON]: .ci/gpu where a machine with a GPU has least: no network, no git, no package
# manager, none of the distribution's packages but a compiler, CMake and ninja; as far as the first call that needs the GPU. With
# --python the libraries of CUDA beside nvcc and cuDNN are taken from that interpreter's wheels, and the toolkit's own are hidden.
# Needs root, for a view of /usr of its own; nothing outside that view changes. Exit codes: 0, 1, 77 where it cannot run.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# shellcheck source=.ci/steps.sh
source .ci/steps.sh

if [[ ${1:-} != --within ]]; then
  ops=softmax python=''
  while (($#)); do
    case $1 in
      --ops) ops=$2 ;;
      --python) python=$(realpath -s "$2") ;;
      *) echo "usage: gpu_rehearsal.sh [--ops LIST] [--python PYTHON]" >&2; exit 2 ;;
    esac
    shift 2
  done
  ((EUID == 0)) || { echo 'skipped: needs root'; exit 77; }
  find_nvcc || { echo 'skipped: there is no nvcc'; exit 77; }
  command -v dpkg >/dev/null || { echo 'skipped: the packages to hide are those of Debian'; exit 77; }
  unshare --mount --net true || { echo 'skipped: no namespace of its own is allowed here'; exit 77; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{source,view,bin}
  git -c safe.directory="$root" ls-files -z | xargs -0 cp --parents -t "$work/source"
  .ci/gpu-bundle "$work/source/bundle" >/dev/null
  packages build | grep -vE '^(build-essential|ca-certificates|cmake|ninja-build)$' | xargs dpkg -L | while read -r path; do
    [[ ! -f $path || $path != /usr/* ]] || echo "$path"
  done >"$work/hidden"
  printf '%s\n' /usr/bin/apt-get /usr/bin/apt /usr/bin/dpkg >>"$work/hidden"
  if [[ -n $python ]]; then
    toolkit=$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")
    for name in cudnn cublas nvrtc cupti; do
      find -L "$toolkit/" -type f \( -name "$name*" -o -name "lib$name*" \) -exec realpath {} +
    done | sort -u >>"$work/hidden"
    # A link would lose the environment that the interpreter belongs to.
    printf '#!/bin/sh\nexec %q "$@"\n' "$python" >"$work/bin/python3"
    chmod +x "$work/bin/python3"
  fi
  # A GPU that is only named: it brings .ci/gpu to its first call of CUDA.
  cat >"$work/bin/nvidia-smi" <<'TEXT'
#!/bin/sh
case "$*" in
  -L) echo 'GPU 0: rehearsal' ;;
  *compute_cap\ * | *=compute_cap*) echo 9.0 ;;
  *) echo 'rehearsal, no GPU' ;;
esac
TEXT
  chmod +x "$work/bin/nvidia-smi"
  unshare --mount --net bash "$0" --within "$work" "$ops"
  exit
fi

work=$2 ops=$3
mount -t tmpfs none "$work/view"
mkdir "$work"/view/{changes,work}
mount -t overlay overlay -o "lowerdir=/usr,upperdir=$work/view/changes,workdir=$work/view/work" /usr ||
  { echo 'skipped: /usr cannot be overlaid here'; exit 77; }
xargs -d '\n' rm -f <"$work/hidden"
export PATH="$work/bin:$PATH"
hash -r
! command -v git >/dev/null || { echo 'git is still there'; exit 1; }

cd "$work/source"
code=0
.ci/gpu --steps build,correctness,measure --ops "$ops" --budget 60 --source-id rehearsal --out "$work/results" \
  --googletest bundle/googletest --headers bundle/headers || code=$?

failed=0
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok: $what"; else echo "FAILED: $what"; failed=1; fi
}
has_no_device() { grep -q 'CUDA driver\|no CUDA-capable device' build/gpu-details/correctness.log; }
few_files() { (($(find "$work/results" -type f | wc -l) <= 8)); }
check 'it fails, since there is no GPU' test "$code" -eq 1
check 'it builds all the same' grep -Eq '^build +.* ok$' "$work/results/summary.txt"
check 'the tests ask for the GPU' has_no_device
check 'measuring was tried, too' grep -Eq '^measure +.* FAILED' "$work/results/summary.txt"
check 'the results are at most 8 files' few_files
check 'the details can be unpacked' tar -tzf "$work/results/details.tar.gz"
exit $failed
