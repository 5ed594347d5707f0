# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by grade and the scripts in .ci/: named steps with their times, packages, and what CTest printed.

step_names=() step_seconds=() step_results=()

# step NAME COMMAND...: runs the command, a function with `set -e` included, and says how long it took. Its exit code is left in
# step_code: a caller that tested it by || would switch off `set -e` within the command.
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

# packages GROUP...: those of cmake/packages.txt.
packages() {
  local group
  for group in "$@"; do awk -v group="$group" '$1 == group { print $2 }' cmake/packages.txt; done
}

# install PACKAGE...: what is missing of them, by apt. Where apt may not be used, prints the command and exits with 2. Machines
# without apt are left to CMake, whose finders name what they lack.
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
    # Without a terminal sudo could not ask for a password.
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

# Puts a toolkit at its usual place on PATH.
find_nvcc() {
  command -v nvcc >/dev/null || [[ ! -x /usr/local/cuda/bin/nvcc ]] || PATH=$PATH:/usr/local/cuda/bin
  command -v nvcc >/dev/null
}

# NVIDIA's package from PyPI, in an environment of its own, where the toolkit has no nvdisasm.
nvdisasm_environment=build/nvdisasm
nvdisasm_of_pypi() {
  find "$nvdisasm_environment" -name nvdisasm -type f -perm -u+x 2>/dev/null | head -n 1
}

# install_nvdisasm: where there is nvcc, whose cubins it reads. Says why where there is none in the end; then the columns of machine
# code are skipped.
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

# Lets kernelgrade know of what install_nvdisasm installed.
use_nvdisasm() {
  local found
  found=$(nvdisasm_of_pypi) || true # none, where PATH has one
  [[ -z $found ]] || export KERNELGRADE_NVDISASM=$PWD/$found
}

# install_cudnn_frontend: cudnn-frontend's headers where FindcuDNNFrontend.cmake looks for them, of the version that it takes. Says why
# where there are none in the end; then the rows of cuDNN's attention, layernorm and rmsnorm are skipped.
install_cudnn_frontend() {
  if cudnn_frontend_headers; then
    return 0
  elif python3 -m venv build/cudnn-frontend && build/cudnn-frontend/bin/pip install --quiet --no-deps 'nvidia-cudnn-frontend>=1.18,<1.19'; then
    cudnn_frontend_headers
  else
    echo 'left out: PyPI gave no nvidia-cudnn-frontend 1.18'
  fi
}
# Their folder; fails where they are not installed.
cudnn_frontend_headers() { compgen -G 'build/cudnn-frontend/lib/python3*/site-packages/include'; }

gpu_works() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep '^GPU ' >/dev/null # of several, too: -q would end it by a signal
}

# The architectures of this machine's GPUs as CMAKE_CUDA_ARCHITECTURES: 8.6 is 86-real; 9.0 is 90a-real, since the kernels use what
# only the architecture itself has.
gpu_architectures() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | tr -d '. ' | sort -u | sed 's/^90$/90a/; s/$/-real/' | paste -sd';'
}

# build_command BACKEND [TARGET...]: installs what is missing, builds `kernelgrade` and the targets (commands: all that it can do; fatbins: of
# every GPU architecture whose resources are judged) in build/BACKEND, and makes the folder report/.
build_command() {
  # shellcheck disable=SC2046 # one word per package
  install $(packages build) </dev/null
  find_nvcc || true
  if [[ $1 == cuda ]]; then
    cmake --preset cuda -DCMAKE_CUDA_ARCHITECTURES="$(gpu_architectures)"
  else
    cmake --preset "$1" '-DKERNELGRADE_RESOURCE_ARCHS=sm_80;sm_90a'
  fi
  cmake --build --preset "$1" --target kernelgrade "${@:2}"
  mkdir -p report
}

# failed_tests LOG: names, from what CTest printed.
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
