// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The containers of device code in a program that `emulate` runs.
#include "runtime/ptx/fatbin.h"

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kg::fuzz::attempt([&] {
    for (const kg::FatbinEntry& entry : kg::read_fatbin(text, "program")) {
      kg::fuzz::attempt([&] { entry.ptx(); });
      kg::fuzz::attempt([&] { entry.cubin(); });
      entry.arch_name();
    }
  });
  return 0;
}
