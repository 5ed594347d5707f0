// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A case in a form that another program can execute: inputs as bytes, and a function that verifies
// the results.
#pragma once

#include "runtime/dtype.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::perf {

struct ExchangedTensor {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> extents; // row-major, without gaps
  bool optional = false;             // output only: results may omit it
};

// The bytes of an input.
using InputBytes = std::function<std::vector<std::byte>(std::string_view input)>;

// The bytes of each output, by name.
using ResultBytes = std::map<std::string, std::vector<std::byte>, std::less<>>;

struct Exchange {
  std::vector<ExchangedTensor> inputs, outputs;
  std::map<std::string, double, std::less<>> scalars;
  // Makes the inputs. They may occupy device memory for the lifetime of the returned function.
  std::function<InputBytes()> make_inputs;
  // Verifies the results with the tolerance for a timed library. Returns what is wrong, or "".
  std::function<std::string(const ResultBytes&)> verify;
  // Tags for the results' row, which reports show; may be null.
  std::function<std::map<std::string, std::string>(const ResultBytes&)> shown = nullptr;
};

} // namespace kg::perf
