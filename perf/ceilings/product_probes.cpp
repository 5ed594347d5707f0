// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/ceilings/probes.h"
#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "vendor/gemm/gemm.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

// The size at which vendors quote their rates.
constexpr std::int64_t kExtent = 8192;

struct Squares {
  explicit Squares(Dtype dtype, Stream& stream)
      : dtype(dtype), bytes(static_cast<std::size_t>(kExtent * kExtent) * size_of(dtype)), a(bytes),
        b(bytes), c(bytes) {
    const std::vector<unsigned char> zeros(bytes, 0);
    a.copy_from(zeros, stream);
    b.copy_from(zeros, stream);
  }

  void multiply(std::string_view variant, Stream& stream) {
    const vendor::Gemm product = {dtype,    false,   false,    kExtent, kExtent, kExtent,  1,
                                  a.data(), kExtent, b.data(), kExtent, 0,       c.data(), kExtent};
    vendor::gemm(variant, product, vendor::Math::fastest, stream);
  }

  std::string verify(Stream& stream) const {
    const std::vector<unsigned char> result = c.to_host(stream);
    const bool zero =
        std::all_of(result.begin(), result.end(), [](auto byte) { return byte == 0; });
    return zero ? "" : "the product of zeros is not zero";
  }

  Dtype dtype;
  std::size_t bytes;
  DeviceBuffer<unsigned char> a, b, c;
};

} // namespace

std::vector<Probe> product_probes() {
  std::vector<Probe> probes;
  if constexpr (backend == Backend::host) return probes;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    for (const std::string_view variant : vendor::gemm_variants(dtype)) {
      const auto make = [dtype, variant = std::string(variant)] {
        Stream stream;
        auto squares = std::make_shared<Squares>(dtype, stream);
        return Workload{[=](Stream& s) { squares->multiply(variant, s); },
                        [=](Stream& s) { squares->c.poison(s); },
                        [=](Stream& s) { return squares->verify(s); }, variant};
      };
      constexpr double kFlops = 2.0 * kExtent * kExtent * kExtent;
      probes.push_back({std::string(variant) + "_" + std::string(name(dtype)) + "_flops_per_s",
                        Kind::compute, kFlops, make});
    }
  }
  return probes;
}

} // namespace kg::perf
