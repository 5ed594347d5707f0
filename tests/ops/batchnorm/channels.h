// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Image tensors of batch normalization: their names, their layouts, and their elements channel by
// channel, as the oracle takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/batchnorm/problem.h"

namespace kg::test {

inline std::string text(const batchnorm::Problem& p) {
  return std::string(name(p.layout)) + "_n" + std::to_string(p.batch) + "_c" +
         std::to_string(p.channels) + "_s" + std::to_string(p.spatial);
}

inline std::vector<std::int64_t> shape_of(const batchnorm::Problem& p) {
  return p.layout == batchnorm::Layout::nchw
             ? std::vector<std::int64_t>{p.batch, p.channels, p.spatial}
             : std::vector<std::int64_t>{p.batch, p.spatial, p.channels};
}

// The channel of the element at offset `place`.
inline std::int64_t channel_of(const batchnorm::Problem& p, std::int64_t place) {
  return p.layout == batchnorm::Layout::nchw ? place / p.spatial % p.channels : place % p.channels;
}

// The offset in the layout of element `i` of channel c, counted across the images.
inline std::size_t place_of(const batchnorm::Problem& p, std::int64_t c, std::int64_t i) {
  const std::int64_t n = i / p.spatial;
  const std::int64_t s = i % p.spatial;
  return static_cast<std::size_t>(p.layout == batchnorm::Layout::nchw
                                      ? (n * p.channels + c) * p.spatial + s
                                      : (n * p.spatial + s) * p.channels + c);
}

template <class T>
std::vector<T> by_channel(const std::vector<T>& tensor, const batchnorm::Problem& p) {
  std::vector<T> rows;
  rows.reserve(tensor.size());
  for (std::int64_t c = 0; c < p.channels; ++c)
    for (std::int64_t i = 0; i < p.per_channel(); ++i) rows.push_back(tensor[place_of(p, c, i)]);
  return rows;
}

// The inverse of by_channel.
template <class T>
std::vector<T> in_layout(const std::vector<T>& rows, const batchnorm::Problem& p) {
  std::vector<T> tensor(rows.size());
  std::size_t next = 0;
  for (std::int64_t c = 0; c < p.channels; ++c)
    for (std::int64_t i = 0; i < p.per_channel(); ++i) tensor[place_of(p, c, i)] = rows[next++];
  return tensor;
}

} // namespace kg::test
