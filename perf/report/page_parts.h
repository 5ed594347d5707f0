// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of perf/report/page/, which CMake embeds into the program.
#pragma once

#include <string>

namespace kg::report::page {

extern const std::string html;
extern const std::string style;
extern const std::string scripts; // concatenated

} // namespace kg::report::page
