// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of --help other than options: command groups, examples, exit codes.
#pragma once

#include "perf/format/help_page.h"

#include <string>
#include <vector>

namespace kg::cli {

// Describes an app with all its commands.
void describe(CLI::App& app);

// The text of `kernelgrade help WORD...`: for the app, a command, or the topic `filters`. Throws
// UsageError for any other word.
std::string help_text(const CLI::App& app, const std::vector<std::string>& words);

// The complete help as a page. A line kOtherProgram NAME marks the section of a command that is a
// separate program.
inline constexpr const char* kOtherProgram = "@section ";
std::string help_page(const CLI::App& app, Page page);

} // namespace kg::cli
