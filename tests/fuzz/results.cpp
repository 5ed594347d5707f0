// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON files of measurements, which `report`, `bless` and `compare` take from anywhere.
#include "perf/judge/result.h"

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kg::fuzz::attempt([&] { kg::judge::results_from_json(text, "results.json"); });
  return 0;
}
