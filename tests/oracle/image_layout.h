// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts images between the two memory layouts. `places` is height times width.
#pragma once

#include <cstdint>
#include <vector>

namespace kg::test {

// batch x channels x places to batch x places x channels.
template <typename V>
std::vector<V> channels_last(const std::vector<V>& x, std::int64_t batch, std::int64_t channels,
                             std::int64_t places) {
  std::vector<V> result;
  result.reserve(x.size());
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t place = 0; place < places; ++place)
      for (std::int64_t c = 0; c < channels; ++c)
        result.push_back(x[static_cast<std::size_t>((n * channels + c) * places + place)]);
  return result;
}

// The inverse.
template <typename V>
std::vector<V> channels_first(const std::vector<V>& x, std::int64_t batch, std::int64_t channels,
                              std::int64_t places) {
  return channels_last(x, batch, places, channels);
}

} // namespace kg::test
