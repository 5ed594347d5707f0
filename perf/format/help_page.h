// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats an app's help: as text of at most 100 columns, as Markdown for
// docs/reference/commands.md, and as the manual page docs/kernelgrade.1. Each form shows types,
// ranges and defaults.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace kg::cli {

// The group of options that select rows. A command's help lists only their names and refers to
// `kernelgrade help filters`.
inline constexpr const char* kRows = "Row filters";

// Formats --help of the app and of all its commands as text.
void format_help(CLI::App& app);

// Wraps the text at 100 columns.
std::string text_of_paragraph(const std::string& text);

// The options of one group, one per line.
std::string group_text(const CLI::App& app, const std::string& group);

// What --help-markdown and --help-man print.
enum class Page { markdown, man };

// The page that `words`, a complete command line, requests.
std::optional<Page> page_asked_for(const std::vector<std::string>& words);

// Level 1 is the largest heading below the page's title. `first` is the paragraph after it; may be
// empty.
std::string heading(Page page, int level, const std::string& text, const std::string& first = "");
std::string paragraph(Page page, const std::string& text);
// The options of one group, with descriptions.
std::string group(Page page, const CLI::App& app, const std::string& name);
// A heading of `level` with the text of --help, and a section for each command below the app.
// `name` is what the user types: "kernelgrade run".
std::string section(Page page, const CLI::App& app, const std::string& name, int level);

} // namespace kg::cli
