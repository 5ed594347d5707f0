#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu_rehearsal.sh [--ops LIST] [--python PYTHON] [--bundle FILE] [--root DIR]: .ci/gpu where a machine with a GPU has least: no network, no git, no
# package manager, none of the distribution's packages but a compiler, CMake and ninja; as far as the first call that needs the GPU; what
# comes after that is rehearsed by gpu_visits.sh. With --python the libraries of CUDA beside nvcc and cuDNN are taken from that
# interpreter's wheels, and the toolkit's own are hidden. With --bundle (of .ci/gpu-bundle --prebuilt) nothing is compiled, and there is
# no compiler, no CMake and no nvcc either. With --root /usr is that of another system (made by debootstrap with g++-13, say), which has the
# compiler that it has. Needs root, for a view of /usr of its own; nothing outside that view changes.
# Exit codes: 0, 1, 77 where it cannot run.
# shellcheck disable=SC2317 # functions that `check` calls
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# shellcheck source=.ci/steps.sh
source .ci/steps.sh

if [[ ${1:-} != --within ]]; then
  ops=softmax python='' bundle='' system=/
  while (($#)); do
    case $1 in
      --ops) ops=$2 ;;
      --python) python=$(realpath -s "$2") ;;
      --bundle) bundle=$(realpath "$2") ;;
      --root) system=$(realpath "$2") ;;
      *) echo "usage: gpu_rehearsal.sh [--ops LIST] [--python PYTHON] [--bundle FILE] [--root DIR]" >&2; exit 2 ;;
    esac
    shift 2
  done
  ((EUID == 0)) || { echo 'skipped: needs root'; exit 77; }
  find_nvcc || { echo 'skipped: nvcc not found'; exit 77; }
  command -v dpkg >/dev/null || { echo 'skipped: the packages to hide are those of Debian'; exit 77; }
  unshare --mount --net true || { echo 'skipped: no namespace of its own is allowed here'; exit 77; }
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{source,view,bin}
  if [[ -n $bundle ]]; then
    tar -xJf "$bundle" -C "$work/source" --strip-components 1
  else
    git -c safe.directory="$root" ls-files -z | xargs -0 cp --parents -t "$work/source"
    .ci/gpu-bundle "$work/source/bundle" >/dev/null
  fi
  packages build | grep -vE '^(build-essential|ca-certificates|cmake|ninja-build)$' | { xargs -n 1 dpkg --root="$system" -L 2>/dev/null || true; } | while read -r path; do
    [[ ! -f $system/$path || $path != /usr/* ]] || echo "$path"
  done >"$work/hidden"
  printf '%s\n' /usr/bin/apt-get /usr/bin/apt /usr/bin/dpkg >>"$work/hidden"
  # What programs that use these packages load; not what the compiler and Python load, too.
  (cd "$system" && find "$PWD/usr/lib" -regextype egrep -regex '.*/lib(pugixml|sqlite3|fmt|tbb|openblas|dnnl|boost_context)[^/]*\.so.*') |
    sed "s,^${system%/},," >>"$work/hidden"
  if [[ -n $bundle ]]; then
    (cd "$system" && find "$PWD/usr/bin" -name '*g++*' -o -name '*gcc*' -o -name cmake -o -name ctest -o -name ninja) | sed "s,^${system%/},," >>"$work/hidden"
    realpath "$(command -v nvcc)" >>"$work/hidden"
  fi
  if [[ -n $python ]]; then
    toolkit=$(dirname "$(dirname "$(realpath "$(command -v nvcc)")")")
    for name in cudnn cublas nvrtc cupti; do
      find -L "$toolkit/" -type f \( -name "$name*" -o -name "lib$name*" \) -exec realpath {} +
    done | sort -u >>"$work/hidden"
    # A link would lose the environment that the interpreter belongs to.
    printf '#!/bin/sh\nexec %q "$@"\n' "$python" >"$work/bin/python3"
    chmod +x "$work/bin/python3"
  fi
  cp tests/ci/stand_in/nvidia-smi "$work/bin/" # a GPU that is only named: it brings .ci/gpu to its first call of CUDA
  unshare --mount --net bash "$0" --within "$work" "$ops" "$bundle" "$system"
  exit
fi

work=$2 ops=$3 bundle=$4 system=$5
toolkit=$(dirname "$(dirname "$(realpath "$(find_nvcc && command -v nvcc)")")")
mkdir "$work/toolkit"
mount --bind "$toolkit" "$work/toolkit"
mount -t tmpfs none "$work/view"
mkdir "$work"/view/{changes,work,toolkit-changes,toolkit-work}
mount -t overlay overlay -o "lowerdir=${system%/}/usr,upperdir=$work/view/changes,workdir=$work/view/work" /usr ||
  { echo 'skipped: /usr cannot be overlaid here'; exit 77; }
if [[ $system != / ]]; then
  mkdir -p "$toolkit" # which the other system lacks
  # A view again, and no bind: files of it are removed below.
  mount -t overlay overlay -o "lowerdir=$work/toolkit,upperdir=$work/view/toolkit-changes,workdir=$work/view/toolkit-work" "$toolkit"
  [[ -e /usr/local/cuda ]] || ln -s "$toolkit" /usr/local/cuda
  for name in g++ gcc; do # a system that has one version alone may lack the plain names
    command -v $name >/dev/null || find /usr/bin -name "$name-[0-9]*" -exec ln -sf {} "$work/bin/$name" \;
  done
  ldconfig -C "$work/ld.so.cache" && mount --bind "$work/ld.so.cache" /etc/ld.so.cache
fi
xargs -d '\n' rm -f <"$work/hidden"
export PATH="$work/bin:$PATH"
hash -r
! command -v git >/dev/null || { echo 'git is still there'; exit 1; }

cd "$work/source"
given=(--googletest bundle/googletest --headers bundle/headers)
[[ -z $bundle ]] || given=()
begin=$SECONDS code=0
.ci/gpu build correctness measure --ops "$ops" --budget 60 --out "$work/results" "${given[@]}" 2>&1 | tee "$work/log" || code=${PIPESTATUS[0]}
! command -v g++ >/dev/null || g++ --version | sed -n 1p
printf '\n%s to the first call of CUDA: %d s\n' "$([[ -z $bundle ]] && echo 'from source' || echo 'from the bundle')" $((SECONDS - begin))

failed=0
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok: $what"; else echo "FAILED: $what"; failed=1; fi
}
few_files() { (($(find "$work/results" -type f | wc -l) <= 8)); }
check 'it fails, since there is no GPU' test "$code" -eq 1
[[ -n $bundle ]] || check 'it builds all the same' grep -q $'^build\t.*\tpassed\t' "$work/results/done.tsv"
[[ -n $bundle ]] || check 'without git the source has a name' grep -Eq $'^source\ttree-[0-9a-f]{12}\t' "$work/results/done.tsv"
check 'the libraries load, and the first test asks for the GPU' grep -q 'CUDA driver\|no CUDA-capable device' "$work/log"
check 'there the visit ends' grep -q 'the machine did not pass smoke' "$work/log"
check 'it says how to go on' grep -q '^  .ci/gpu .*correctness .*--out ' "$work/results/summary.txt"
check 'the results are at most 8 files' few_files
exit $failed
