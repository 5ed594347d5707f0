// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX, of a program that `emulate` runs or a kernel that `try` takes.
#include "runtime/ptx/module.h"

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kg::fuzz::attempt([&] { kg::ptx_run::parse(text, "module.ptx"); });
  return 0;
}
