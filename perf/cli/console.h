// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What people see of a command while it runs. There are no colours, so NO_COLOR changes nothing.
#pragma once

#include "perf/cli/world.h"

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>

namespace kg::cli {

// While it lives, a stream writes ASCII alone: '±' as "+-", any other character as '?'.
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
  int lead_ = 0; // the first byte of the character before, where it has more than one
};

// While it lives, what is written to a stream arrives as judge::printable() has it, line by line:
// no terminal and no CI system obeys what stood in a file. Lines beyond kMostLine bytes are cut.
class Printable : public std::streambuf {
 public:
  static constexpr std::size_t kMostLine = 20000;

  explicit Printable(std::ostream& stream);
  ~Printable() override;
  Printable(const Printable&) = delete;
  Printable& operator=(const Printable&) = delete;

  // Writes all and says whether everything until now has arrived: a disk may be full.
  bool flushed();
  // The stream's own buffer, for what is no text for people.
  std::streambuf* below() const { return below_; }
  // That of a stream, with a Printable on it or not.
  static std::streambuf* below(const std::ostream& stream);

 protected:
  int overflow(int c) override;
  int sync() override;

 private:
  void write_line();

  std::ostream& stream_;
  std::streambuf* const below_;
  std::string line_; // what has come of the line that is being written
  bool failed_ = false;
};

// One line on a terminal that each next one replaces, and that is gone at the end. A log, which
// keeps everything, gets nothing.
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
  std::size_t width_ = 0; // of what stands there
};

} // namespace kg::cli
