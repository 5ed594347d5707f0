// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A small table, for a terminal or for Markdown.
#pragma once

#include <string>
#include <vector>

namespace kg::judge {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // As many cells as the header has.
  void add(std::vector<std::string> cells);

  std::string plain() const;    // columns padded to their widest cell
  std::string markdown() const; // '|' and line breaks inside cells are escaped

 private:
  std::vector<std::vector<std::string>> lines_; // the header first
};

} // namespace kg::judge
