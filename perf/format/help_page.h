// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How an app's help is written: as text of at most 100 columns, as Markdown for
// docs/reference/commands.md, and as the manual page docs/kernelgrade.1. All show types, ranges and
// defaults.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

// What --help-markdown and --help-man print.
enum class Page { markdown, man };

// The page that `words`, a whole command line, ask for.
std::optional<Page> page_asked_for(const std::vector<std::string>& words);

// Level 1 is the page's largest heading below its title. `first` is the paragraph behind it, if
// any.
std::string heading(Page page, int level, const std::string& text, const std::string& first = "");
std::string paragraph(Page page, const std::string& text);
// The options of one group, with their meanings.
std::string group(Page page, const CLI::App& app, const std::string& name);
// A heading of `level` and what --help says, and so on for each command of the app below it. `name`
// is what one types: "kernelgrade run".
std::string section(Page page, const CLI::App& app, const std::string& name, int level);

} // namespace kg::cli
