// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A small table, for a terminal or for Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // As many cells as the header has.
  void add(std::vector<std::string> cells);

  const std::vector<std::vector<std::string>>& lines() const { return lines_; } // header first

  std::string plain() const;    // columns padded to their widest cell
  std::string markdown() const; // cells as sinks.h writes them

 private:
  std::vector<std::vector<std::string>> lines_;
};

// The reason that a row has where its first blessing gives none.
inline constexpr std::string_view kFirstWhy = "first measurement";

} // namespace kg::judge
