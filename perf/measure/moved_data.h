// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an operation that only moves data put every element where it belongs.
#pragma once

#include "perf/measure/random_data.h"
#include "tests/oracle/compare.h"

#include <cstdint>
#include <string>

namespace kg::perf {

// y[i] has the bits of x at source(i); large results through windows. Empty when right.
template <class T, class Source>
std::string verify_moved(const RandomData<T>& x, const DeviceBuffer<T>& y, std::int64_t size,
                         Source source, Stream& stream) {
  for (const Window window : windows(size, 1 << 17)) {
    std::vector<std::uint64_t> expected;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i)
      expected.push_back(test::raw_bits(x.at(source(i))));
    const auto comparison =
        test::compare_bits(observe(y, window, stream), {window.count}, expected);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

} // namespace kg::perf
