// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What --help shows beside the options: the commands in groups, examples, exit codes.
#pragma once

#include "perf/format/help_page.h"

#include <string>
#include <vector>

namespace kg::cli {

// Of an app with all its commands.
void describe(CLI::App& app);

// The text of `kernelgrade help WORD...`: of the app, of a command, or of the topic `filters`.
// Throws UsageError for another word.
std::string help_text(const CLI::App& app, const std::vector<std::string>& words);

// All of it as a page. A line kOtherProgram NAME stands for the section of a command that is a
// program of its own.
inline constexpr const char* kOtherProgram = "@section ";
std::string help_page(const CLI::App& app, Page page);

} // namespace kg::cli
