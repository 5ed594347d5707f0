// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) per element and 4 per result; one comparison per element. Expected on an H200:
// the bandwidth of a sum (reduction.cu), 4.2 TB/s read. The keys cost some six instructions per
// element, a tenth of what the device can issue at that bandwidth for f32.
// The kernels are those of reduction, applied to keys (largest_first.h).
#include "ops/argmax/argmax.h"

#include "ops/argmax/largest_first.h"
#include "ops/reduction/launches.h"
#include "runtime/error.h"

#include <limits>
#include <string>

namespace kg::argmax {

namespace {

reduction::Variant launched(Variant variant) {
  return variant == Variant::naive ? reduction::Variant::naive : reduction::Variant::tiled;
}

} // namespace

template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant) {
  return reduction::partial_bytes<LargestFirst::Accumulator>(x, launched(variant));
}

template <class T>
Variant run(View<const T, 3> x, std::int32_t* out, void* workspace, Variant variant,
            Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  reduction::require_input("argmax", x);
  variant = resolved(variant);
  const std::int64_t results = x.shape[0] * x.shape[2];
  if (results == 0) return variant;
  require(x.shape[1] >= 1 && x.shape[1] <= kMost, "argmax: x is " + reduction::text(x.shape) +
                                                      "; the axis must have 1 to " +
                                                      std::to_string(kMost) + " elements");
  require(out != nullptr,
          "argmax: out is null; pass device memory for " + std::to_string(results) + " results");
  require(x.data != nullptr,
          "argmax: x is null; pass device memory of " + reduction::text(x.shape) + " elements");
  const std::size_t needed = workspace_bytes(x, variant);
  require(needed == 0 || workspace != nullptr,
          "argmax: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  reduction::launch_variant(LargestFirst{}, x, out, workspace, launched(variant), stream);
  return variant;
}

Work work(Dtype dtype, reduction::Extents extents) {
  const auto [outer, axis, inner] = extents;
  const auto results = static_cast<double>(outer) * static_cast<double>(inner);
  const double elements = results * static_cast<double>(axis);
  return {.bytes = static_cast<double>(size_of(dtype)) * elements + sizeof(std::int32_t) * results,
          .written = sizeof(std::int32_t) * results,
          .flops = elements};
}

template std::size_t workspace_bytes(const View<const float, 3>&, Variant);
template std::size_t workspace_bytes(const View<const f16, 3>&, Variant);
template std::size_t workspace_bytes(const View<const bf16, 3>&, Variant);

template Variant run(View<const float, 3>, std::int32_t*, void*, Variant, Stream&);
template Variant run(View<const f16, 3>, std::int32_t*, void*, Variant, Stream&);
template Variant run(View<const bf16, 3>, std::int32_t*, void*, Variant, Stream&);

} // namespace kg::argmax
