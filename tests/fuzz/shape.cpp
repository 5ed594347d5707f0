// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes as `--shape` takes them, asked for all that an operation asks for.
#include "tests/contract/shape.h"

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kg::fuzz::attempt([&] {
    const kg::Shape shape = kg::Shape::parse(text);
    for (const char* key : {"b", "h", "q", "kv", "d"})
      kg::fuzz::attempt([&] { shape.number(key); });
    kg::fuzz::attempt([&] { shape.numbers("p"); });
    kg::fuzz::attempt([&] { shape.word({"bhsd", "bshd", "ragged"}); });
    kg::fuzz::attempt([&] { shape.has("causal"); });
    shape.require_all_used();
  });
  return 0;
}
