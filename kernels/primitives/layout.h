// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How images and batches of them lie in memory. Plain C++.
#pragma once

#include <string_view>

namespace kg {

// The order in memory of batch (n), channels (c), height (h) and width (w), the last one dense.
enum class Layout { nchw, nhwc };
constexpr std::string_view name(Layout layout) { return layout == Layout::nchw ? "nchw" : "nhwc"; }

} // namespace kg
