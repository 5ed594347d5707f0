// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations with their cases and variants, as they are timed. Each operation is made from its card
// (card_operation.h). The build lists the operations (cmake/Op.cmake), so there is no registration
// at start-up.
#pragma once

#include "perf/measure/exchange.h"
#include "runtime/backend.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "runtime/work.h"
#include "tests/contract/bound.h"
#include "tests/contract/shape.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

// One variant of one case, with allocated and filled buffers, for one measurement.
struct Workload {
  std::function<void(Stream&)> run; // enqueues one execution
  std::function<void(Stream&)>
      poison; // invalidates every output, so that a stale result cannot pass
  std::function<std::string(Stream&)>
      verify;          // compares the outputs with the reference; returns what is wrong, or ""
  std::string variant; // the variant that runs, also for `automatic`
  // Nanoseconds spent so far on run-time compilation, in this process or in the earlier one that
  // filled the cache. Empty if nothing is compiled.
  std::function<double()> compile_ns = {};
  // The largest error that `verify` has seen, as a share of the tolerance. Empty if unknown.
  std::function<double()> worst_error = {};
};

struct Variant {
  std::string name;    // as in the CSV: "naive", "tiled", "cublas", ...
  bool vendor = false; // a library's
  std::function<Workload()> make;
  bool timed = true;     // false: one launch takes too long here; costs are counted anyway
  std::string note = {}; // a remark about the times, for the rows
  bool compiled_at_run_time = false;
};

// Whether to time a kernel whose threads each read this many elements sequentially. Beyond 2^16, a
// launch on a GPU takes from 0.1 s to seconds, and its rows take minutes. The emulator's cases are
// small.
bool is_timed_in_sequence(std::int64_t elements);

// One case: op, dtype and parameters. Its id is "<op>.<dtype>.<shape>".
struct Case {
  Bound kind = Bound::memory;
  Work work;
  std::vector<Variant> variants;
  std::string automatic = {};              // our variant that `automatic` selects; empty if unknown
  bool tf32 = false;                       // f32 matrices may be rounded to TF32
  bool interleaved = false;                // its variants are timed interleaved (measure.h)
  std::function<Exchange()> exchange = {}; // for other programs; may be empty
};

struct ListedShape {
  std::string text;
  bool fast = false; // part of the pre-merge subset (--fast)
};

struct Operation {
  std::string name;
  std::string category; // elementwise, reduction, softmax, layout, matmul, ...
  std::vector<Dtype> dtypes;
  std::vector<ListedShape> shapes; // of this backend; on the host a launch takes at most about 5 ms
  std::function<Case(Dtype, const Shape&)> make;
  std::vector<ListedShape> shapes_on_gpu = {}; // the same on every backend
};

// Whether variants of GEMM-like operations are timed interleaved. On a GPU they run at the power
// limit, where the clock follows the temperature. On the host, the other variants' blocks would
// disturb the caches.
inline constexpr bool kInterleavesProducts = backend == Backend::cuda;

// Every operation of this build, in the order of the calls in CMake. Defined in a generated file.
std::vector<Operation> operations();

inline std::string case_id(const Operation& operation, Dtype dtype, std::string_view shape) {
  return operation.name + "." + std::string(kg::name(dtype)) + "." + std::string(shape);
}

} // namespace kg::perf
