// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How an app's help is written: as text of at most 100 columns, and as Markdown for
// docs/reference/commands.md. Both show types, ranges and defaults.
#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace kg::cli {

// The group of the options that choose rows. A command's help names them, and refers to
// `kernelgrade help filters`.
inline constexpr const char* kRows = "Row filters";

// Makes --help of the app and of all its commands text of this form.
void format_help(CLI::App& app);

// In lines of at most 100 columns.
std::string text_of_paragraph(const std::string& text);

// The options of one group, a line each.
std::string group_text(const CLI::App& app, const std::string& group);
// The same as a table.
std::string group_markdown(const CLI::App& app, const std::string& group);

// A section with a heading of `level`, and one for each command of the app below it. `name` is what
// one types: "kernelgrade run".
std::string markdown(const CLI::App& app, const std::string& name, int level);

} // namespace kg::cli
