// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// printf in kernels: nvcc calls vprintf with the arguments in memory, each at a multiple of its
// size, floats as doubles (CUDA C++ Programming Guide, "Formatted Output").
#include "runtime/ptx/prelude.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace kg::ptx_run {
namespace {

template <class T>
T next(const u8* arguments, std::size_t& at) {
  at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  T value;
  std::memcpy(&value, arguments + at, sizeof value);
  at += sizeof value;
  return value;
}

} // namespace

u32 print(const char* format, const u8* arguments) {
  std::size_t at = 0;
  u32 converted = 0;
  for (const char* c = format; *c != '\0'; ++c) {
    if (*c != '%') {
      std::putchar(*c);
      continue;
    }
    std::string one = "%"; // a conversion: flags, width, precision, length, kind
    bool wide = false;
    for (++c; *c != '\0' && std::strchr("-+ #0123456789.*lhjzt", *c) != nullptr; ++c) {
      if (*c == '*')
        one += std::to_string(next<s32>(arguments, at));
      else if (*c != 'h')
        one += *c;
      wide |= *c == 'l' || *c == 'j' || *c == 'z' || *c == 't';
    }
    if (*c == '\0') break;
    one += *c;
    if (*c == '%') {
      std::putchar('%');
      continue;
    }
    ++converted;
    if (std::strchr("diouxXc", *c) != nullptr) {
      if (wide)
        std::printf(one.c_str(), next<u64>(arguments, at));
      else
        std::printf(one.c_str(), next<u32>(arguments, at));
    } else if (std::strchr("aAeEfFgG", *c) != nullptr) {
      std::printf(one.c_str(), next<f64>(arguments, at));
    } else if (*c == 's' || *c == 'p') {
      std::printf(one.c_str(), next<const char*>(arguments, at));
    } else {
      std::fputs(one.c_str(), stdout); // unchanged
    }
  }
  return converted;
}

} // namespace kg::ptx_run
