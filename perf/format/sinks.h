// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Escapes text for each kind of output. Names, reasons, messages and machine descriptions come from
// untrusted files and programs, and each output format has its own special characters. The writer
// escapes with the function for its format. Readers keep text unchanged.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kg::judge {

// Makes visible what a terminal or a CI system would interpret: control characters, bidirectional
// overrides, invalid UTF-8, and GitHub's workflow commands ("::error::", "##[group]"). Line breaks
// and tabs stay.
std::string printable(std::string_view text);

// printable(), with a bar before each line after the first, so that no line looks like the
// program's own output.
std::string for_console(std::string_view text);

// Text within a line of GitHub Markdown: no markup except code in backquotes, no HTML, mentions,
// references or emoji. Line breaks become <br>. Longer text is cut at kMostMarkdown bytes.
inline constexpr std::size_t kMostMarkdown = 4000;
std::string for_markdown(std::string_view text);

// A span of code, on one line.
std::string for_markdown_code(std::string_view text);

// A code block inside a list item. Each line is indented by `indent`.
std::string for_markdown_block(std::string_view text, std::string_view indent);

// For an attribute or text of XML 1.0 or of HTML.
std::string for_xml(std::string_view text);

// A text cell. A text that a spreadsheet would evaluate as a formula gets a leading quote.
// csv_record() handles commas, quotes and line breaks.
std::string for_csv(std::string_view text);

// The message of a workflow command or, if `property` is set, the value of one of its properties.
std::string for_annotation(std::string_view text, bool property);

// JSON. Invalid UTF-8 becomes U+FFFD, where nlohmann alone would throw. `indent` as in
// nlohmann::json::dump().
std::string for_json(const nlohmann::json& value, int indent = -1);

} // namespace kg::judge
