#!/usr/bin/env bash
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# emulate.sh KERNELGRADE NVCC WHAT: programs that nvcc makes here, run by `kernelgrade emulate`. WHAT: runtime (the runtime API), libraries
# (Thrust and libcu++), static (a runtime that is linked in), driver (the driver API), tensor_map (both kinds, and the occupancy of clusters), hostile
# (damaged images); triton, numba, cupy, cuda_core or pycuda, of python3 or else of PyPI (skipped, 77, where that cannot be reached).
set -euo pipefail
kernelgrade=$1 nvcc=$2 what=$3
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export KERNELGRADE_JIT_CACHE=$work/cache

# compile PROGRAM SOURCE OPTIONS...
compile() {
  local program=$1 source=$2
  shift 2
  "$nvcc" -std=c++17 -lineinfo "$@" "$sources/$source" -o "$program"
}

# expect CODE TEXT COMMAND...: it ends with CODE, and what it prints holds TEXT.
expect() {
  local code=0 wanted=$1 text=$2
  shift 2
  "$kernelgrade" emulate "$@" >out.txt 2>&1 || code=$?
  [[ $code == "$wanted" ]] && grep -qF -- "$text" out.txt && return
  printf 'kernelgrade emulate %s\nended with %s, not %s, or does not say: %s\n' "$*" "$code" "$wanted" "$text"
  cat out.txt
  exit 1
}

ptx=(-gencode 'arch=compute_80,code=compute_80')
toolkit=$(dirname "$(dirname "$(realpath "$nvcc")")")
# link PROGRAM SOURCE OPTIONS...: with the driver API, and no CUDA runtime.
link() {
  local program=$1 source=$2
  shift 2
  g++ -std=c++20 -Wall -Wextra -Wno-deprecated-declarations -I "$toolkit/include" "$sources/$source" -o "$program" -L "$toolkit/lib64/stubs" -lcuda -pthread "$@"
}

if [[ $what == driver || $what == hostile ]]; then
  "$nvcc" -lineinfo -ptx -arch=compute_80 "$sources/driver_kernels.cu" -o kernels.ptx
  "$nvcc" -lineinfo -fatbin "${ptx[@]}" "$sources/driver_kernels.cu" -o kernels.fatbin
  "$nvcc" -cubin -arch=sm_80 "$sources/driver_kernels.cu" -o kernels.cubin
fi
if [[ $what == driver ]]; then
  link driver driver.cpp
  expect 0 'right' -- ./driver kernels.ptx kernels.fatbin kernels.cubin
  grep -qF 'cuIpcGetMemHandle: this function of the driver API is not emulated' out.txt || { cat out.txt; exit 1; }
  expect 0 'right' --checked -- ./driver kernels.ptx kernels.fatbin kernels.cubin
  expect 0 'right' -- ./driver kernels.ptx kernels.fatbin kernels.cubin frees
  expect 1 'an address that it cannot free: byte 4 of a buffer of 64 bytes' --checked -- ./driver kernels.ptx kernels.fatbin kernels.cubin frees
  expect 1 'right' --checked -- ./driver kernels.ptx kernels.fatbin kernels.cubin fault
  grep -qE '\[out-of-bounds\] kernel beyond.*driver_kernels\.cu:[0-9]+' out.txt || { cat out.txt; exit 1; }
  expect 1 '[uninitialised] kernel fetch' --checked -- ./driver kernels.ptx kernels.fatbin kernels.cubin array
  # NVRTC returns PTX where a program asks for machine code.
  link nvrtc nvrtc.cpp -L "$toolkit/lib64" -lnvrtc -Wl,-rpath,"$toolkit/lib64"
  expect 0 'right' -- ./nvrtc sm_80
  exit
fi
if [[ $what == tensor_map ]]; then
  export KERNELGRADE_VIRTUAL_DEVICE=sm_90a
  compile tensor_map tensor_map.cu -cudart shared -gencode arch=compute_90a,code=compute_90a
  compile occupancy occupancy.cu -gencode arch=compute_90a,code=compute_90a
  expect 0 'right' -- ./occupancy
  expect 0 'right' -- ./tensor_map
  expect 0 'right' --checked -- ./tensor_map
  expect 1 '[race] kernel shift' --checked -- ./tensor_map wrong
  grep -qE 'tensor_map\.cu:[0-9]+' out.txt || { cat out.txt; exit 1; }
  compile im2col im2col.cu -cudart shared -gencode arch=compute_90a,code=compute_90a
  expect 0 'right' -- ./im2col
  expect 0 'right' --checked -- ./im2col
  expect 1 '[race] kernel convolve' --checked -- ./im2col wrong
  exit
fi
if [[ $what == hostile ]]; then
  link hostile hostile.cpp
  expect 0 'right' -- ./hostile kernels.ptx kernels.fatbin 10000
  exit
fi
if [[ $what == static ]]; then # nvcc's default
  compile right histogram.cu
  expect 0 'right, 7 blocks, cudaSuccess' -- ./right
  expect 0 'right, 14 blocks, cudaSuccess' -- ./right graph
  expect 0 'passed: no races' --checked -- ./right
  # In CI, where the sandbox is on, and nothing names a cache of compiled kernels.
  code=0
  CI=true env -u KERNELGRADE_JIT_CACHE "$kernelgrade" emulate -- ./right >out.txt 2>&1 || code=$?
  { ((code == 0)) && grep -q 'sandbox: on' out.txt && grep -qF 'right, 7 blocks, cudaSuccess' out.txt; } || { cat out.txt; exit 1; }
  compile per_thread histogram.cu -default-stream per-thread
  expect 0 'right, 7 blocks, cudaSuccess' -- ./per_thread
  expect 0 'right, 14 blocks, cudaSuccess' --checked -- ./per_thread graph
  compile race histogram.cu -DRACE
  expect 1 '[race] kernel histogram' --checked -- ./race
  grep -qE 'histogram\.cu:(18|22)' out.txt || { cat out.txt; exit 1; }
  # Within a library that the program is linked with; its constructors run before the program's.
  compile libhistogram.so histogram.cu -shared -Xcompiler -fPIC -Dmain=histogram_main
  echo 'int histogram_main(int, char**); int main(int n, char** words) { return histogram_main(n, words); }' >main.cpp
  g++ main.cpp -L. -lhistogram -Wl,-rpath,"$work" -o with_library
  expect 0 'right, 7 blocks, cudaSuccess' -- ./with_library
  # Within a library that a program without CUDA opens, twice, and whose constructor calls the runtime.
  cat >late.cpp <<'TEXT'
#include <cstdio>
#include <dlfcn.h>
int main() {
  for (int i = 0; i < 2; ++i) {
    void* const library = dlopen("./liblate.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::puts(dlerror()), 1;
    char name[] = "late";
    char* words[] = {name, nullptr};
    const int code = reinterpret_cast<int (*)(int, char**)>(dlsym(library, "histogram_main"))(1, words);
    if (code || dlclose(library)) return 1;
  }
}
TEXT
  printf '#include <cstdlib>\n#include <cuda_runtime.h>\nstatic const int made = [] { void* p; return cudaMalloc(&p, 4) || cudaFree(p) ? (std::abort(), 0) : 1; }();\n' >late.cu
  printf 'extern "C" int histogram_main(int, char**);\n#include "%s/histogram.cu"\n' "$sources" >>late.cu
  "$nvcc" -lineinfo "${ptx[@]}" late.cu -o liblate.so -shared -Xcompiler -fPIC -Dmain=histogram_main
  g++ late.cpp -o late -ldl
  expect 0 'right, 7 blocks, cudaSuccess' -- ./late
  [[ $(grep -c 'right, 7 blocks, cudaSuccess' out.txt) == 2 ]] || { cat out.txt; exit 1; }
  expect 0 'passed: no races' --checked -- ./late
  # Below a script, as a build tool runs it.
  printf '#!/bin/sh\nexec ./right "$@"\n' >script && chmod +x script
  expect 0 'right, 7 blocks, cudaSuccess' -- ./script
  # Runtime calls make the primary context current; queries do not.
  cat >context.cu <<'TEXT'
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
int main() {
  CUcontext before = nullptr, after = nullptr;
  int count = 0;
  cuInit(0);
  cudaGetDeviceCount(&count);
  cuCtxGetCurrent(&before);
  cudaFree(nullptr);
  cuCtxGetCurrent(&after);
  std::printf("contexts: %d, then %d\n", before != nullptr, after != nullptr);
}
TEXT
  "$nvcc" context.cu -o context -L "$toolkit/lib64/stubs" -lcuda
  expect 0 'contexts: 0, then 1' -- ./context
  # CUB chooses its launch parameters by the PTX version of a kernel, not by the device.
  printf '#include <cstdio>\n#include <cuda_runtime.h>\n__global__ void f() {}\nint main() { cudaFuncAttributes of; cudaFuncGetAttributes(&of, f); std::printf("PTX %%d for %%d\\n", of.ptxVersion, of.binaryVersion); }\n' >versions.cu
  "$nvcc" -gencode arch=compute_75,code=compute_75 versions.cu -o versions
  expect 0 'PTX 75 for 80' -- ./versions
  # What cannot be replaced is refused, and no code of the runtime runs.
  printf '#include <cuda_runtime.h>\nint main() { return cudaSetValidDevices(nullptr, 0); }\n' >missing.cu
  "$nvcc" missing.cu -o missing
  expect 127 'kernelgrade: cudaSetValidDevices: this function of the CUDA runtime is not emulated' -- ./missing
  # A runtime before CUDA 13 lacks cudaMemPrefetchBatchAsync.
  echo 'extern "C" __attribute__((visibility("hidden"))) int cudaMalloc(void**, unsigned long) { return 0; } int main() { return cudaMalloc(nullptr, 4); }' >older.cpp
  g++ older.cpp -o older
  expect 1 "its CUDA runtime is not that of CUDA 13; compile it with CUDA 13's nvcc" -- ./older
  strip right -o stripped
  expect 1 'stripped: it is stripped, and the CUDA runtime is linked into it' -- ./stripped
  exit
fi
# need_python MODULE PACKAGE...: puts a python3 that has the module on PATH; the packages are installed in the build tree. Their versions
# are fixed, so that a new release cannot fail these tests.
need_python() {
  local module=$1 venv
  python3 -c "import $module" 2>/dev/null && return
  shift
  venv=$(dirname "$(dirname "$kernelgrade")")/frameworks/$module
  if [[ ! -x $venv/bin/python3 ]] || ! "$venv/bin/python3" -c "import $module" 2>/dev/null; then
    { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "$@"; } || { echo "skipped: PyPI gave no $*"; exit 77; }
  fi
  export PATH=$venv/bin:$PATH
}

if [[ $what == triton ]]; then
  need_python triton triton==3.9.0 numpy==2.4.6
  export TRITON_CACHE_DIR=$work/triton
  expect 0 'right' -- python3 "$sources/triton_tutorials.py"
  expect 0 'right' --checked -- python3 "$sources/triton_tutorials.py"
  expect 1 '[out-of-bounds] kernel add_kernel' --checked -- python3 "$sources/triton_tutorials.py" wrong
  grep -qE 'triton_tutorials.py:[0-9]+' out.txt || { cat out.txt; exit 1; }
  expect 0 'right' -- python3 "$sources/triton_layers.py"
  expect 0 'right' --checked -- python3 "$sources/triton_layers.py"
  expect 1 '[out-of-bounds] kernel matmul_kernel' --checked -- python3 "$sources/triton_layers.py" mask
  export KERNELGRADE_VIRTUAL_DEVICE=sm_90a
  expect 0 'right' -- python3 "$sources/triton_layers.py"
  grep -rq 'wgmma.mma_async' "$TRITON_CACHE_DIR" || { echo 'FAILED: no kernel of compute capability 9.0 uses wgmma'; exit 1; }
  expect 0 'right' --checked -- python3 "$sources/triton_layers.py"
  expect 1 '[out-of-bounds] kernel matmul_kernel' --checked -- python3 "$sources/triton_layers.py" mask
  unset KERNELGRADE_VIRTUAL_DEVICE
  expect 1 '[race] kernel layer_norm_backward_kernel' --checked -- python3 "$sources/triton_layers.py" lock
  exit
fi

if [[ $what == cupy ]]; then
  need_python cupy cupy-cuda13x==14.2.0 numpy==2.4.6
  expect 0 'right' -- python3 "$sources/cupy_kernels.py"
  # CuPy's own kernels are not the script's.
  if grep -F 'never ran' out.txt; then exit 1; fi
  expect 0 'right' --checked -- python3 "$sources/cupy_kernels.py"
  expect 1 'kernel block_sum' --checked -- python3 "$sources/cupy_kernels.py" wrong
  exit
fi

if [[ $what == cuda_core ]]; then
  export CUDA_PATH=$toolkit # of NVRTC
  need_python cuda.core cuda-core==1.2.2 cuda-bindings==13.5.0 numpy==2.4.6
  expect 0 'right' -- python3 "$sources/cuda_core_kernels.py"
  expect 0 'right' --checked -- python3 "$sources/cuda_core_kernels.py"
  expect 1 '[out-of-bounds] kernel vector_add<float>' --checked -- python3 "$sources/cuda_core_kernels.py" beyond
  expect 1 '[race] kernel block_sum' --checked -- python3 "$sources/cuda_core_kernels.py" barrier
  # A sitecustomize of the user still runs, and Python's other modules stay as they are.
  mkdir sites && echo 'import sys; sys.of_user = "the user'"'"'s ran"' >sites/sitecustomize.py
  PYTHONPATH=$work/sites expect 0 "the user's ran" -- python3 -c 'import sys; print(sys.of_user)'
  exit
fi

if [[ $what == pycuda ]]; then
  export PATH=$toolkit/bin:$PATH CUDA_ROOT=$toolkit # PyCUDA is compiled here
  need_python pycuda pycuda==2026.1 numpy==2.4.6
  export PYCUDA_CACHE_DIR=$work/pycuda
  mkdir pycuda
  expect 0 'right' -- python3 "$sources/pycuda_kernels.py"
  expect 0 'right' --checked -- python3 "$sources/pycuda_kernels.py"
  # PyCUDA calls abort() when it frees memory after a fault.
  expect 134 '[out-of-bounds] kernel multiply_them' --checked -- python3 "$sources/pycuda_kernels.py" beyond
  expect 134 '[race] kernel multiply_matrices' --checked -- python3 "$sources/pycuda_kernels.py" barrier
  expect 134 '[race] kernel reduce_kernel_stage1' --checked -- python3 "$sources/pycuda_kernels.py" reduction
  exit
fi

if [[ $what == numba ]]; then
  need_python numba_cuda numba-cuda==0.30.4 numpy==2.4.6
  expect 0 'right' -- python3 "$sources/numba_kernels.py"
  expect 0 'right' --checked -- python3 "$sources/numba_kernels.py"
  expect 1 '[race] kernel __main__::block_sum' --checked -- python3 "$sources/numba_kernels.py" barrier
  expect 1 '[race] kernel __main__::rotate' --checked -- python3 "$sources/numba_kernels.py" grid
  exit
fi

if [[ $what == libraries ]]; then
  compile reduce reduce.cu -cudart shared "${ptx[@]}"
  expect 0 '0 out of order' -- ./reduce
  expect 0 '0 out of order' --checked -- ./reduce
  compile barrier barrier.cu -cudart shared "${ptx[@]}"
  expect 0 'right, cudaSuccess' -- ./barrier
  expect 0 'right, cudaSuccess' --checked -- ./barrier
  compile barrier_race barrier.cu -cudart shared "${ptx[@]}" -DRACE
  expect 1 '[race] kernel sums' --checked -- ./barrier_race
  exit
fi

compile right histogram.cu -cudart shared "${ptx[@]}"
expect 0 'right, 7 blocks, cudaSuccess' -- ./right
expect 0 'right, 14 blocks, cudaSuccess' -- ./right graph
expect 0 'right, 7 blocks, cudaSuccess' --checked -- ./right
"$kernelgrade" emulate --checked -- ./right 2>err.txt >out.txt
grep -qx 'passed: no races, memory errors or wrong barriers (1 launch in one order of threads)' err.txt || { cat err.txt; exit 1; }
if grep -q 'passed' out.txt; then cat out.txt; exit 1; fi

# What its launches cost, and the bound of a GPU from that and from the machine code; skipped (77) where there is no nvdisasm.
expect 0 'right, 7 blocks, cudaSuccess' --counts counts.json -- ./right
grep -q '"shared_bytes": 0,' counts.json || { echo 'counts.json: all of its shared memory is static'; grep shared_bytes counts.json; exit 1; }
"$nvcc" -std=c++17 -lineinfo -cubin -arch=sm_86 "$sources/histogram.cu" -o right.cubin
code=0
"$kernelgrade" profile --counts counts.json --cubin right.cubin --gpu nvidia-rtx-3090 >out.txt || code=$?
[[ $code == 77 ]] || { [[ $code == 0 ]] && grep -qE '^histogram +7 ' out.txt; } || { cat out.txt; exit 1; }

# What never ran, and what a GPU rounds otherwise.
compile coverage ../../../../../examples/check/coverage.cu -cudart shared "${ptx[@]}"
expect 0 'never ran: 2 of 5 kernels' --json coverage.json --coverage coverage.info -- ./coverage
grep -qE 'never +.*/coverage\.cu:29$' out.txt || { cat out.txt; exit 1; }
grep -qF 'fidelity: ex2.approx, div.approx (correctly rounded here' out.txt || { cat out.txt; exit 1; }
{ grep -qE '^never reached: 2 of [0-9]+ lines of kernels$' out.txt && grep -qE '^  .*/coverage\.cu:12, 29$' out.txt; } || { cat out.txt; exit 1; }
{ grep -q '^DA:12,0$' coverage.info && grep -q '^DA:14,1$' coverage.info; } || { cat coverage.info; exit 1; }
grep -q '^FNDA:0,never$' coverage.info && grep -q '"exit_code": 0' coverage.json
compile exact ../../../../../examples/check/coverage.cu -cudart shared "${ptx[@]}" -DEXACT
expect 0 'never ran: 2 of 4 kernels' -- ./exact
if grep -q 'fidelity' out.txt; then cat out.txt; exit 1; fi
expect 2 '/dev/null' --coverage /dev/null -- ./exact

compile race histogram.cu -cudart shared "${ptx[@]}" -DRACE
expect 1 '[race] kernel histogram' --checked -- ./race
grep -qE 'histogram\.cu:18.*|histogram\.cu:22' out.txt || { cat out.txt; exit 1; }
grep -qF 'of __shared__ histogram(unsigned char const*, int, unsigned int*)::local' out.txt || { cat out.txt; exit 1; }
if grep -q 'passed' out.txt; then cat out.txt; exit 1; fi

# What the host does wrong; a refused launch fails without checkers, too.
compile host ../../../perf/cli/check/programs/host.cu -cudart shared "${ptx[@]}"
for right in none set padding 'refused and seen' 'refused by cudaLaunchKernel, and seen'; do
  expect 0 'done: 9' --checked -- ./host "$right"
done
expect 1 'kernelgrade: the program ends after a refused launch whose error it never asked for: exit code 1' -- ./host refused
expect 1 'launch of fill: a block of (2048,1,1) threads' --checked -- ./host refused
expect 1 '[uninitialised] the copy to the host' --checked -- ./host 'never written'
expect 1 'takes 928 of its 4000 bytes' --checked -- ./host 'a block less'
expect 0 'done: 9' -- ./host 'a block less'

compile numbers ../../../perf/cli/check/programs/numbers.cu -cudart shared "${ptx[@]}"
expect 0 'no error' --checked -- ./numbers plain
expect 1 '[read-only] kernel turn' --checked -- ./numbers read-only

# Static and dynamic shared memory beyond 48 KiB together must be asked for.
compile shared_limits shared_limits.cu -cudart shared "${ptx[@]}"
expect 0 'right' -- ./shared_limits asks
expect 1 'cudaErrorInvalidValue' -- ./shared_limits

# A value that nothing has written is a finding where it is used; at its load if that is asked for.
compile look_ahead look_ahead.cu -cudart shared "${ptx[@]}"
compile used look_ahead.cu -cudart shared "${ptx[@]}" -DNO_ENDS
expect 0 'right' --checked -- ./look_ahead
expect 1 '[uninitialised] kernel merge' --checked -- ./used
grep -qE 'thread \(31,0,0\) (branches on|accesses memory at an address from|writes to global memory) a value that nothing has written, at \S*look_ahead\.cu:3[0-9]; kernel merge.* reads 4 bytes at \S*look_ahead\.cu:3[0-9]: byte 384 of __shared__ merge' out.txt ||
  { cat out.txt; exit 1; }
expect 1 'byte 384 of __shared__ merge(int const*, int*)::keys, which nothing has written' --checked --uninitialised-loads -- ./look_ahead
expect 2 '--uninitialised-loads' --uninitialised-loads -- ./look_ahead

compile managed managed.cu -cudart shared "${ptx[@]}"
expect 0 'right, 46, 9, cudaSuccess' -- ./managed
expect 0 'right, 46, 9, cudaSuccess' --checked -- ./managed

# Blocks that wait for each other, and where one barrier is missing.
compile grid grid.cu -cudart shared "${ptx[@]}"
expect 0 'right, cudaSuccess' -- ./grid
expect 0 'right, cudaSuccess' --checked -- ./grid
compile grid_race grid.cu -cudart shared "${ptx[@]}" -DRACE
expect 1 '[race] kernel shift' --checked -- ./grid_race

compile calls calls.cu -cudart shared "${ptx[@]}"
expect 0 'right, cudaSuccess' -- ./calls
expect 0 'right, cudaSuccess' --checked -- ./calls

compile graph graph.cu -cudart shared "${ptx[@]}"
expect 0 'right' -- ./graph
expect 0 'right' --checked -- ./graph
compile graph_race graph.cu -cudart shared "${ptx[@]}" -DMISSING_EDGE
expect 1 '[race]' --checked -- ./graph_race

compile texture texture.cu "${ptx[@]}"
expect 0 'right, cudaSuccess' -- ./texture
expect 0 'right, cudaSuccess' --checked -- ./texture
compile texture_race texture.cu "${ptx[@]}" -DRACE
expect 1 '[race] kernel fetch' --checked -- ./texture_race
grep -qE 'read at \S*texture\.cu:28;' out.txt || { cat out.txt; exit 1; }
compile texture_type texture.cu "${ptx[@]}" -DWRONG_TYPE
expect 1 'a fetch of floats from a texture of integers' -- ./texture_type

compile pools pools.cu "${ptx[@]}"
expect 0 'right' -- ./pools
expect 0 'right' --checked -- ./pools
compile pools_beyond pools.cu "${ptx[@]}" -DBEYOND
expect 1 '[out-of-bounds] kernel fill' --checked -- ./pools_beyond

compile heap heap.cu "${ptx[@]}"
expect 0 'right, cudaSuccess' -- ./heap
expect 0 'right, cudaSuccess' --checked -- ./heap
compile heap_beyond heap.cu "${ptx[@]}" -DBEYOND
expect 1 '[out-of-bounds] kernel allocate' --checked -- ./heap_beyond
compile heap_freed heap.cu "${ptx[@]}" -DFREED
expect 1 '[freed] kernel allocate' --checked -- ./heap_freed

compile curand curand.cu -lcurand
expect 0 'right' -- ./curand
expect 0 'right' --checked -- ./curand
compile curand_beyond curand.cu -lcurand -DBEYOND
expect 1 'wrong' -- ./curand_beyond

compile machine_code histogram.cu -cudart shared -gencode 'arch=compute_80,code=sm_80'
expect 1 'the program holds no PTX' -- ./machine_code
compile fast histogram.cu -cudart shared "${ptx[@]}" -Xfatbin -compress-mode=speed
expect 0 'right, 7 blocks, cudaSuccess' -- ./fast
compile plain histogram.cu -cudart shared "${ptx[@]}" -Xfatbin -compress-mode=none
expect 0 'right, 7 blocks, cudaSuccess' -- ./plain
expect 2 'no such program' -- ./nothing
expect 2 'name a program'
