// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports kernels of a program that no run launched, as text and as files.
#pragma once

#include "perf/code/coverage/notes.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kg::coverage {

inline constexpr std::size_t kMostRows = 10; // per table

// A table of kernels that never ran, and a table of lines that the other kernels never reached, at
// most kMostRows rows each. Empty if everything ran. Paths below `folder` are relative to it.
std::string coverage_text(const Notes& notes, const std::string& folder);

// {"kernels": [{"name", "file", "line", "ran"}], "inexact": [name]}
nlohmann::json notes_json(const Notes& notes);

// For genhtml (lcov 1.16, man geninfo, "FILES"). Omits kernels whose file is unknown.
std::string lcov_of(const Notes& notes);

} // namespace kg::coverage
