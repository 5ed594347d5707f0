// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines by which a mutant's test program reports its progress to the kill matrix.
#pragma once

#include <string_view>

namespace kg::mutants {

inline constexpr std::string_view kStarted = "@started "; // then the test's name
inline constexpr std::string_view kFailed = "@failed ";   // then file:line; message to the end

} // namespace kg::mutants
