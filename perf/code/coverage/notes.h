// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program on the emulator noted as it ran (kernels/runtime/event_file.h): which of its
// kernels and lines ran, and what it computed that a GPU rounds otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kg::coverage {

struct Kernel {
  std::string name; // readable
  std::string file; // as the compiler names it; "" where it was not told
  int line = 0;
  bool ran = false;
};

struct Notes {
  std::map<std::string, Kernel> kernels;            // by a key that no other has
  std::map<std::string, std::map<int, bool>> lines; // by file: whether it was reached
  std::set<std::string> inexact;                    // names of runtime/host/fidelity.h
  std::uint64_t launches = 0;                       // by all processes that ended in the usual way
  bool printed_fault = false; // the program has printed what a kernel or it did wrong

  // Of another run of the same program.
  void add(const Notes& other);
};

// Of all processes that wrote to the file. Throws Error where it is no file of events.
Notes read_notes(std::string_view file);

} // namespace kg::coverage
