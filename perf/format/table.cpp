// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/table.h"

#include "perf/format/sinks.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kg::judge {

TextTable::TextTable(std::vector<std::string> header) { lines_.push_back(std::move(header)); }

void TextTable::add(std::vector<std::string> cells) {
  require(cells.size() == lines_.front().size(),
          fmt::format("cells: {} under a header of {}; give one per column", cells.size(),
                      lines_.front().size()));
  lines_.push_back(std::move(cells));
}

std::string TextTable::plain() const {
  std::vector<std::size_t> widths(lines_.front().size());
  for (const auto& line : lines_)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string result;
  for (const auto& line : lines_) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i)
      row += fmt::format("{:<{}}  ", line[i], widths[i]);
    std::replace(row.begin(), row.end(), '\n', ' '); // a row must stay on one line
    row.erase(row.find_last_not_of(' ') + 1);
    result += row + '\n';
  }
  return result;
}

std::string TextTable::markdown() const {
  std::string result;
  for (const auto& line : lines_) {
    result += '|';
    for (const std::string& cell : line) result += ' ' + for_markdown(cell) + " |";
    result += '\n';
    if (&line != &lines_.front()) continue;
    result += '|';
    for (std::size_t i = 0; i < line.size(); ++i) result += "---|";
    result += '\n';
  }
  return result;
}

} // namespace kg::judge
