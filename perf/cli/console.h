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
