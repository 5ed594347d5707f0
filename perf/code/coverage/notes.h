// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the notes of a program that ran on the emulator (kernels/runtime/event_file.h): the kernels
// and lines that ran, and inexact arithmetic, which a GPU rounds differently.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kg::coverage {

struct Kernel {
  std::string name; // demangled
  std::string file; // as the compiler names it; "" if unknown
  int line = 0;
  bool ran = false;
};

struct Notes {
  std::map<std::string, Kernel> kernels;            // by a unique key
  std::map<std::string, std::map<int, bool>> lines; // by file and line: whether it was reached
  std::set<std::string> inexact;                    // names of runtime/host/fidelity.h
  std::uint64_t launches = 0;                       // of all processes that ended normally
  bool printed_fault = false; // the program has printed a fault of its own or of a kernel

  // Adds the notes of another run of the same program.
  void add(const Notes& other);
};

// The notes of all processes that wrote to the file. Throws Error if it is not an event file.
Notes read_notes(std::string_view file);

} // namespace kg::coverage
