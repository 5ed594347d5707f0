// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A command's console output while it runs. There are no colours, so NO_COLOR changes nothing.
#pragma once

#include "perf/cli/world.h"

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>

namespace kg::cli {

// During its lifetime a stream writes ASCII only: '±' as "+-", any other character as '?'.
class AsciiOnly : public std::streambuf {
 public:
  explicit AsciiOnly(std::ostream& stream);
  ~AsciiOnly() override;
  AsciiOnly(const AsciiOnly&) = delete;
  AsciiOnly& operator=(const AsciiOnly&) = delete;

 protected:
  int overflow(int c) override;
  int sync() override;

 private:
  std::ostream& stream_;
  std::streambuf* const below_;
  int lead_ = 0; // the first byte of the pending multi-byte character
};

// During its lifetime a stream's text passes through judge::printable(), line by line, so no
// terminal or CI system obeys control sequences from a file. Lines are cut at kMostLine bytes.
class Printable : public std::streambuf {
 public:
  static constexpr std::size_t kMostLine = 20000;

  explicit Printable(std::ostream& stream);
  ~Printable() override;
  Printable(const Printable&) = delete;
  Printable& operator=(const Printable&) = delete;

  // Flushes and returns whether everything so far was written: a disk may be full.
  bool flushed();
  // The stream's own buffer, for output that is not text.
  std::streambuf* below() const { return below_; }
  // A stream's own buffer, with or without a Printable on it.
  static std::streambuf* below(const std::ostream& stream);

 protected:
  int overflow(int c) override;
  int sync() override;

 private:
  void write_line();

  std::ostream& stream_;
  std::streambuf* const below_;
  std::string line_; // the incomplete current line
  bool failed_ = false;
};

// A status line on a terminal, replaced by the next one and removed at the end. A log, which keeps
// everything, gets nothing.
class Progress {
 public:
  Progress(World& world, bool quiet) : world_(world), shown_(world.terminal && !quiet) {}
  ~Progress() { show(""); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& line);

 private:
  World& world_;
  const bool shown_;
  std::size_t width_ = 0; // of the current line
};

} // namespace kg::cli
