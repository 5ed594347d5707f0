// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The CSV files of costs and resources: a pull request may change any byte of them.
#include "perf/judge/exact_table.h"

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kg::fuzz::attempt([&] { kg::judge::parse_exact(kg::judge::cost_table(), text, "costs.csv"); });
  kg::fuzz::attempt(
      [&] { kg::judge::parse_exact(kg::judge::resource_table(), text, "resources.csv"); });
  return 0;
}
