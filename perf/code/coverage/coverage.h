// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a program that no run launched, as text and as files.
#pragma once

#include "perf/code/coverage/notes.h"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kg::coverage {

inline constexpr std::size_t kMostRows = 10; // of a table

// A table of the kernels that never ran, and one of the lines that those which ran never reached,
// of at most kMostRows rows each; empty where all ran. Files below `folder` are named from it.
std::string coverage_text(const Notes& notes, const std::string& folder);

// {"kernels": [{"name", "file", "line", "ran"}], "inexact": [name]}
nlohmann::json notes_json(const Notes& notes);

// For genhtml (lcov 1.16, man geninfo, "FILES"). Kernels whose file is not known are left out.
std::string lcov_of(const Notes& notes);

} // namespace kg::coverage
