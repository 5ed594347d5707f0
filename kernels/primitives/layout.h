// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory layouts of image batches. Plain C++.
#pragma once

#include <string_view>

namespace kg {

// The order of batch (n), channels (c), height (h) and width (w) in memory; the last one is dense.
enum class Layout { nchw, nhwc };
constexpr std::string_view name(Layout layout) { return layout == Layout::nchw ? "nchw" : "nhwc"; }

} // namespace kg
