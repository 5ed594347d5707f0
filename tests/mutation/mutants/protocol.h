// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines by which a mutant's test program tells the kill matrix where it is.
#pragma once

#include <string_view>

namespace kg::mutants {

inline constexpr std::string_view kStarted = "@started "; // and the test's name
inline constexpr std::string_view kFailed = "@failed ";   // file:line; the message, to the end

} // namespace kg::mutants
