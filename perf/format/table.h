// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A small table for the terminal or for Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  // `cells` must have as many elements as the header.
  void add(std::vector<std::string> cells);

  const std::vector<std::vector<std::string>>& lines() const { return lines_; } // header first

  std::string plain() const;    // columns padded to their widest cell
  std::string markdown() const; // cells are escaped as in sinks.h

 private:
  std::vector<std::vector<std::string>> lines_;
};

// The reason stored for a row that was first blessed without one.
inline constexpr std::string_view kFirstWhy = "first measurement";

} // namespace kg::judge
