// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/readable.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace kg::emulate {

std::string_view readable_from(const void* at) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  std::uintptr_t end = begin;
  std::ifstream maps("/proc/self/maps"); // in ascending order, see proc(5)
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    char rights = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx %c", &from, &to, &rights) != 3 || to <= end) continue;
    if (from > end || rights != 'r') break;
    end = to;
  }
  return {static_cast<const char*>(at), end - begin};
}

} // namespace kg::emulate
