// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ab/listed_rows.h"

#include "perf/measure/child_process.h"

#include <optional>
#include <sstream>

namespace kg::ab {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find("  ", begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return cells;
}

std::vector<std::string> words_of(const std::string& cell) {
  std::vector<std::string> words;
  std::istringstream stream(cell);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

} // namespace

std::set<judge::RowKey> rows_of_table(const std::string& table) {
  std::set<judge::RowKey> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 3) continue;
    for (std::string variant : words_of(cells[1])) {
      if (variant.back() == '*') variant.pop_back(); // a vendor's variant
      for (const std::string& word : words_of(cells[2]))
        if (const std::optional<judge::Mode> mode = judge::mode_named(word))
          rows.insert({cells[0], variant, *mode});
    }
  }
  return rows;
}

std::set<judge::RowKey> listed_rows(const std::filesystem::path& executable,
                                    const std::vector<std::string>& filter) {
  std::vector<std::string> command = {executable.string(), "list"};
  command.insert(command.end(), filter.begin(), filter.end());
  return rows_of_table(perf::run_process(command, perf::Output::capture).output);
}

} // namespace kg::ab
