// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Text on its way out. Names, reasons, messages and what describes a machine come from files and
// programs that anybody may have written; each place they are written to takes other characters for
// its own. Escaping is the business of who writes, by the one function of the place; what is read
// stays as it is.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kg::judge {

// What a terminal or a CI system would obey is made visible: control characters, text that runs
// backwards, bytes that are no UTF-8, and GitHub's workflow commands ("::error::", "##[group]").
// Line breaks and tabs stay.
std::string printable(std::string_view text);

// printable(), and each further line begins with a bar, so that none passes for one of the
// program's own.
std::string for_console(std::string_view text);

// Text within a line of Markdown as GitHub reads it: no markup but code in backquotes, no HTML, no
// mention, no reference, no emoji; line breaks as <br>. Beyond kMostMarkdown bytes it is cut.
inline constexpr std::size_t kMostMarkdown = 4000;
std::string for_markdown(std::string_view text);

// A span of code, on one line.
std::string for_markdown_code(std::string_view text);

// Lines of code, as an item's own block: each is indented by `indent`.
std::string for_markdown_block(std::string_view text, std::string_view indent);

// For an attribute or text of XML 1.0 or of HTML.
std::string for_xml(std::string_view text);

// A cell of text, not of a number: what a spreadsheet would take for a formula gets a quote in
// front. Commas, quotes and line breaks are csv_record()'s.
std::string for_csv(std::string_view text);

// The message of a workflow command or, where `property`, the value of one of its properties.
std::string for_annotation(std::string_view text, bool property);

// JSON; bytes that are no UTF-8 become U+FFFD, where nlohmann alone would throw. `indent` as of
// nlohmann::json::dump().
std::string for_json(const nlohmann::json& value, int indent = -1);

} // namespace kg::judge
