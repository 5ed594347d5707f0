// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Results as sections, shared by the console, Markdown and HTML.
#pragma once

#include "perf/format/table.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::report {

// Lines of text, followed by a table.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::optional<judge::TextTable> table = std::nullopt;
};

std::string plain_text(const std::vector<Section>& sections);
// `level` of the first heading; the other headings are one level below.
std::string markdown(const std::vector<Section>& sections, int level = 1);
std::string html_of(const Section& section);

// A complete HTML file in the report's style, without scripts or network access. `title` is plain
// text, `body` is HTML.
std::string html_page(const std::string& title, const std::string& body);

} // namespace kg::report
