// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A case as a program that shares no code with this one may solve it: its inputs as bytes, and a
// judge of the results that come back.
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
  bool optional = false;             // of an output: it may be left out
};

// The bytes of an input.
using InputBytes = std::function<std::vector<std::byte>(std::string_view input)>;

// The bytes of each output, by its name.
using ResultBytes = std::map<std::string, std::vector<std::byte>, std::less<>>;

struct Exchange {
  std::vector<ExchangedTensor> inputs, outputs;
  std::map<std::string, double, std::less<>> scalars;
  // Makes the inputs. They may take device memory, as long as what it gives lives.
  std::function<InputBytes()> make_inputs;
  // Holds the results to what a library's are held to where it is timed. Empty when they are right,
  // else what is wrong.
  std::function<std::string(const ResultBytes&)> verify;
  // What reports show of the results, as tags of their row; null: nothing.
  std::function<std::map<std::string, std::string>(const ResultBytes&)> shown = nullptr;
};

} // namespace kg::perf
