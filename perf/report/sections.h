// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What was found, for people: sections that the console, a Markdown file and a page show alike.
#pragma once

#include "perf/format/table.h"

#include <optional>
#include <string>
#include <vector>

namespace kg::report {

// Lines, then a table.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::optional<judge::TextTable> table = std::nullopt;
};

std::string plain_text(const std::vector<Section>& sections);
// `level`: of the first heading; those of the others are one below.
std::string markdown(const std::vector<Section>& sections, int level = 1);
std::string html_of(const Section& section);

// A whole HTML file in the report's style, without scripts or network: `title` is plain text,
// `body` HTML.
std::string html_page(const std::string& title, const std::string& body);

} // namespace kg::report
