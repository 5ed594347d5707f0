// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same operations by the libraries that people trust: cuBLAS, cuDNN, Thrust and CUB on cuda;
// OpenBLAS, oneDNN and Thrust's host back end on host. Plain C++: pointers are device pointers
// (host pointers on the host backend), types are named by Dtype, so that no library header and no
// device vector type meets another.
//
// Streams: on cuda every function enqueues on `stream`, except Thrust's reductions, which wait for
// it (Thrust returns their results to the caller). To capture a call into a graph, make the same
// call once before on the same thread and stream: the first one creates the library's handle and
// the workspace. On the host the libraries run at once: a stream that is being captured does not
// record them.
//
// Threads on the host: each library's own default, one per CPU that it may use
// (OPENBLAS_NUM_THREADS, OMP_NUM_THREADS and the like are obeyed).
//
// Errors: every function throws Error naming the argument when it is out of range, listing the
// names that exist when the variant has none of that name for the type, and with the library's own
// words when the library refuses.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::vendor {

// A library this build is linked with, and the version it runs with (Thrust and CUB: was compiled
// with). Needs no device.
struct Library {
  std::string name; // "cublas", "cudnn", "thrust", "cub", "openblas", "onednn"
  std::string version;
};
std::vector<Library> libraries();

// Arithmetic of the library: `pedantic` is what correctness compares with (true f32, no TF32, fixed
// order where there is a choice), `fastest` the library's best mode of the same precision, what
// standing is measured against.
enum class Math { pedantic, fastest };

// For each operation: the names of the variants that exist on this backend for this type (empty: no
// vendor has it, the oracle stands alone), which needs no device, and the call. Arguments mean what
// they mean in the operation's own header. Inputs and outputs must not overlap.
enum class Binary { add, sub, mul, div };
std::vector<std::string_view> elementwise_variants(Binary op, Dtype dtype);
void elementwise(std::string_view variant, Binary op, Dtype dtype, const void* a, const void* b,
                 void* out, std::int64_t n, Stream& stream);

// The order of additions is the library's; Thrust's on the host (TBB) may change from run to run.
enum class SumAxis { all, rows, columns };
std::vector<std::string_view> reduction_variants(SumAxis axis);
void reduction(std::string_view variant, SumAxis axis, const float* x, std::int64_t rows,
               std::int64_t cols, float* out, Stream& stream); // packed rows

std::vector<std::string_view> softmax_variants(Dtype dtype);
void softmax(std::string_view variant, Dtype dtype, const void* x, void* y, std::int64_t rows,
             std::int64_t cols, Stream& stream); // packed rows

std::vector<std::string_view> transpose_variants();
void transpose(std::string_view variant, const float* x, std::int64_t rows, std::int64_t cols,
               std::int64_t ldx, float* y, std::int64_t ldy, Stream& stream);

struct Gemm {
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  float alpha;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float beta;
  float* c;
  std::int64_t ldc;
}; // row-major
std::vector<std::string_view> gemm_variants();
void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream);

} // namespace kg::vendor
