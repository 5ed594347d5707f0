// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax or its logarithm, for the forward and the backward operation.
#pragma once

#include <string_view>

namespace kg::softmax {

enum class Kind { softmax, log_softmax };
inline constexpr Kind kKinds[] = {Kind::softmax, Kind::log_softmax};

constexpr std::string_view name(Kind kind) {
  return kind == Kind::softmax ? "softmax" : "log_softmax";
}

} // namespace kg::softmax
