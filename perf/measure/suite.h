// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be timed: operations, their cases and variants. Each comes from its card
// (card_operation.h); the build lists them (cmake/Op.cmake), so there is no registration at
// start-up and nothing to forget.
#pragma once

#include "perf/measure/exchange.h"
#include "runtime/backend.h"
#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "runtime/work.h"
#include "tests/contract/kind.h"
#include "tests/contract/shape.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

// One variant of one case with its data allocated and filled; lives for one measurement.
struct Workload {
  std::function<void(Stream&)> run; // enqueues one execution
  std::function<void(Stream&)>
      poison; // makes every output invalid, so that a stale result cannot pass
  std::function<std::string(Stream&)>
      verify;          // compares the outputs with the oracle; empty when right, else what is wrong
  std::string variant; // what `automatic` resolved to, or the variant itself
  // Nanoseconds that compiling at run time took so far, for set-up and executions: in this process,
  // or in an earlier one that left the result in a cache. Empty where nothing is compiled.
  std::function<double()> compile_ns = {};
  // The greatest error that `verify` has seen, as a share of what it tolerates; empty where it does
  // not say.
  std::function<double()> worst_error = {};
};

struct Variant {
  std::string name;    // as in the CSV: "naive", "tiled", "cublas", ...
  bool vendor = false; // a library's, the standard that standing is measured against
  std::function<Workload()> make;
  bool timed = true; // false: one launch takes too long here; its costs are counted all the same
  std::string note = {}; // what its rows must say of their times
  bool compiled_at_run_time = false;
};

// Whether a kernel of ours may be timed whose threads each read so many elements one after another:
// beyond 2^16 a launch takes from a tenth of a second to seconds on a GPU, and its rows minutes.
// The executor's cases are small.
bool is_timed_in_sequence(std::int64_t elements);

// One case: op, dtype and parameters. Its id is "<op>.<dtype>.<shape>".
struct Case {
  Kind kind = Kind::memory;
  Work work;
  std::vector<Variant> variants;
  std::string automatic = {}; // the variant of ours that `automatic` takes; empty: not said
  bool in_turns = false;      // its variants are timed in turns (measure.h)
  std::function<Exchange()> exchange = {}; // for other programs; empty: there is none
};

struct ListedShape {
  std::string text;
  bool fast = false; // part of the pre-merge subset (--fast)
};

struct Operation {
  std::string name;
  std::string category; // elementwise, reduction, softmax, layout, matmul, ...
  std::vector<Dtype> dtypes;
  std::vector<ListedShape> shapes; // of this backend: on the host at most about 5 ms a launch
  std::function<Case(Dtype, const Shape&)> make;
  std::vector<ListedShape> shapes_on_gpu = {}; // whatever this backend is
};

// Whether the variants of products are timed in turns: they draw a GPU's whole power, so that its
// clock follows its temperature. On a host, others' turns would disturb the caches.
inline constexpr bool kProductsInTurns = backend == Backend::cuda;

// Every operation of this build, in the order of CMake's calls. Defined by a generated file.
std::vector<Operation> operations();

inline std::string case_id(const Operation& operation, Dtype dtype, std::string_view shape) {
  return operation.name + "." + std::string(kg::name(dtype)) + "." + std::string(shape);
}

} // namespace kg::perf
