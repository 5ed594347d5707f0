# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by grade and the scripts in .ci/: named and timed steps, packages, and parsing of CTest's output.

step_names=() step_seconds=() step_results=()

# step NAME COMMAND...: runs the command, possibly a function under `set -e`, and prints its duration. The exit code is returned in
# step_code, because testing a command with || would switch off `set -e` inside it.
step() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n==> %s\n' "$name"
  set +e
  (
    set -e
    "$@"
  )
  step_code=$?
  set -e
  local result=ok
  ((step_code == 0)) || result="FAILED ($step_code)"
  note_step "$name" $((SECONDS - begin)) "$result"
  printf '<== %s: %s, %s (%s since the start)\n' "$name" "$result" "$(duration $((SECONDS - begin)))" "$(duration $SECONDS)"
}

note_step() {
  step_names+=("$1") step_seconds+=("$2") step_results+=("$3")
}

duration() {
  if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

print_steps() {
  local i
  printf '\n%-44s %12s  %s\n' step time result
  for i in "${!step_names[@]}"; do
    printf '%-44s %12s  %s\n' "${step_names[i]}" "$(duration "${step_seconds[i]}")" "${step_results[i]}"
  done
  printf '%-44s %12s\n' total "$(duration $SECONDS)"
}

# packages GROUP...: the packages of these groups in cmake/packages.txt.
packages() {
  local group
  for group in "$@"; do awk -v group="$group" '$1 == group { print $2 }' cmake/packages.txt; done
}

# install PACKAGE...: installs missing packages with apt. Without permission, prints the command and exits with 2. On machines without apt,
# CMake's finders name what is missing.
install() {
  local missing=() package prefix=()
  command -v apt-get >/dev/null || return 0
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo 'nothing to install'
    return 0
  fi
  if ((EUID != 0)); then
    # sudo can only ask for a password on a terminal.
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      prefix=(sudo)
    else
      printf 'These packages are missing, and installing them needs root. As root, run:\n  apt-get update && apt-get install -y --no-install-recommends %s\n' \
        "${missing[*]}" >&2
      exit 2
    fi
  fi
  echo "installing ${missing[*]}"
  "${prefix[@]}" apt-get update -qq
  "${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Adds a toolkit in its usual folder to PATH.
find_nvcc() {
  command -v nvcc >/dev/null || [[ ! -x /usr/local/cuda/bin/nvcc ]] || PATH=$PATH:/usr/local/cuda/bin
  command -v nvcc >/dev/null
}

# NVIDIA's package from PyPI in its own virtual environment, if the toolkit lacks nvdisasm.
nvdisasm_environment=build/nvdisasm
nvdisasm_of_pypi() {
  find "$nvdisasm_environment" -name nvdisasm -type f -perm -u+x 2>/dev/null | sed -n 1p
}

# install_nvdisasm: if nvcc is available, whose cubins nvdisasm reads. Prints a reason if it fails; the machine-code columns are then
# skipped.
install_nvdisasm() {
  if ! find_nvcc; then
    echo 'left out: nvcc not found'
  elif command -v nvdisasm; then
    return 0
  elif [[ -n $(nvdisasm_of_pypi) ]] || { python3 -m venv "$nvdisasm_environment" &&
    "$nvdisasm_environment/bin/pip" install --quiet 'nvidia-cuda-nvdisasm>=13.0,<14'; }; then
    nvdisasm_of_pypi
  else
    echo 'left out: nvdisasm not found, and PyPI gave none'
  fi
}

# Points kernelgrade to the nvdisasm that install_nvdisasm installed.
use_nvdisasm() {
  local found
  found=$(nvdisasm_of_pypi) || true # none if PATH has one
  [[ -z $found ]] || export KERNELGRADE_NVDISASM=$PWD/$found
}

# install_cudnn_frontend: installs the accepted version of cudnn-frontend's headers where FindcuDNNFrontend.cmake looks. Prints a reason if
# it fails; the rows of cuDNN's attention, layernorm and rmsnorm are then skipped.
install_cudnn_frontend() {
  if cudnn_frontend_headers; then
    return 0
  elif python3 -m venv build/cudnn-frontend && build/cudnn-frontend/bin/pip install --quiet --no-deps 'nvidia-cudnn-frontend>=1.18,<1.19'; then
    cudnn_frontend_headers
  else
    echo 'left out: PyPI gave no nvidia-cudnn-frontend 1.18'
  fi
}
# The headers' folder; fails if they are not installed.
cudnn_frontend_headers() { compgen -G 'build/cudnn-frontend/lib/python3*/site-packages/include'; }

gpu_works() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep '^GPU ' >/dev/null # -q would end it by a signal with several
}

# The architectures of this machine's GPUs as CMAKE_CUDA_ARCHITECTURES: 8.6 becomes 86-real; 9.0 becomes 90a-real, since the kernels use
# architecture-specific features.
gpu_architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d '. ' | sort -u | sed 's/^90$/90a/; s/$/-real/' | paste -sd';'
}

# build_command BACKEND [-DOPTION...] [TARGET...]: installs missing packages, configures build/BACKEND with the options, builds `kernelgrade`
# and the targets (commands: all commands), and creates the folder report/.
build_command() {
  local options=() targets=(kernelgrade) word
  for word in "${@:2}"; do
    if [[ $word == -D* ]]; then options+=("$word"); else targets+=("$word"); fi
  done
  # shellcheck disable=SC2046 # one word per package
  install $(packages build) </dev/null
  find_nvcc || true
  [[ $1 != cuda ]] || options+=("-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architectures)")
  cmake --preset "$1" "${options[@]}"
  cmake --build --preset "$1" --target "${targets[@]}"
  mkdir -p report
}

# failed_tests LOG: the names of failed tests in CTest's output.
failed_tests() {
  sed -nE '/^The following tests FAILED:/,$ s/^[[:space:]]*[0-9]+ - ([^ ]+) \(.*/\1/p' "$1"
}

# ctest_counts LOG...: "<passed> <failed> <skipped>", from the line that CTest prints for each test.
ctest_counts() {
  cat "$@" | awk '
    /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
      if (/ \.*   Passed /) passed++
      else if (/\*\*\*(Skipped|Not Run \(Disabled\))/) skipped++
      else failed++
    }
    END { print passed + 0, failed + 0, skipped + 0 }'
}
