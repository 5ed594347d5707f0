// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/softmax_sum.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

std::vector<std::string_view> softmax_sum_variants() { return names(softmax_sum_table(), kAlways); }

void softmax_sum(std::string_view variant, const float* x, const float* alpha, float* y,
                 std::int64_t terms, std::int64_t n, Stream& stream) {
  const std::string what = join("softmax_sum", "f32");
  const auto& entry = find(softmax_sum_table(), variant, what, kAlways);
  require_extents(what, {{"terms", terms}, {"n", n}});
  if (terms == 0 || n == 0) return;
  require_pointers(what, {{"x", x}, {"alpha", alpha}, {"y", y}});
  entry.run(x, alpha, y, terms, n, stream);
}

} // namespace kg::vendor
