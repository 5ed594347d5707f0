// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Images of more than 2^31 elements, for the own tests of batchnorm and of its gradient.
#pragma once

#include "tests/ops/batchnorm/images.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card::images {

inline std::vector<Images> huge() {
  const Images p{2, std::int64_t{1} << 20, 1026};
  return in_layouts({p}, {p});
}

template <class T>
T element(double value) {
  return test::elements<T>(std::vector<double>{value})[0];
}

// `value` and -`value` alternate in the first channel, the last, and the third from last.
template <class T>
test::Marks<T> marks(const Images& p, double value) {
  test::Marks<T> result;
  for (const std::int64_t c : {std::int64_t{0}, p.channels - 3, p.channels - 1})
    for (std::int64_t i = 0; i < p.per_channel(); ++i)
      result[static_cast<std::int64_t>(test::place_of(p, c, i))] =
          element<T>(i % 2 ? -value : value);
  return result;
}

} // namespace kg::card::images
