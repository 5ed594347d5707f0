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

// What is multiplied, and as what.
struct Arithmetic {
  Dtype dtype;
  bool tf32;
  std::string name;
};

struct Squares {
  Squares(Dtype dtype, bool tf32, Stream& stream)
      : dtype(dtype), tf32(tf32),
        bytes(static_cast<std::size_t>(kExtent * kExtent) * size_of(dtype)), a(bytes), b(bytes),
        c(bytes) {
    const std::vector<unsigned char> zeros(bytes, 0);
    a.copy_from(zeros, stream);
    b.copy_from(zeros, stream);
  }

  void multiply(std::string_view variant, Stream& stream) {
    vendor::Gemm product = {dtype,    false,   false,    kExtent, kExtent, kExtent,  1,
                            a.data(), kExtent, b.data(), kExtent, 0,       c.data(), kExtent};
    product.tf32 = tf32;
    vendor::gemm(variant, product, vendor::Math::fastest, stream);
  }

  std::string verify(Stream& stream) const {
    const std::vector<unsigned char> result = c.to_host(stream);
    const bool zero =
        std::all_of(result.begin(), result.end(), [](auto byte) { return byte == 0; });
    return zero ? "" : "the product of zeros is not zero";
  }

  Dtype dtype;
  bool tf32;
  std::size_t bytes;
  DeviceBuffer<unsigned char> a, b, c;
};

} // namespace

std::vector<Probe> product_probes() {
  std::vector<Probe> probes;
  if constexpr (backend == Backend::host) return probes;
  const Arithmetic kinds[] = {{Dtype::f32, false, "f32"},
                              {Dtype::f32, true, "tf32"},
                              {Dtype::f16, false, "f16"},
                              {Dtype::bf16, false, "bf16"}};
  for (const Arithmetic& kind : kinds) {
    for (const std::string_view library : vendor::gemm_variants(kind.dtype)) {
      const std::string variant(library);
      const auto make = [kind, variant] {
        Stream stream;
        auto squares = std::make_shared<Squares>(kind.dtype, kind.tf32, stream);
        return Workload{[=](Stream& s) { squares->multiply(variant, s); },
                        [=](Stream& s) { squares->c.poison(s); },
                        [=](Stream& s) { return squares->verify(s); }, variant};
      };
      constexpr double kFlops = 2.0 * kExtent * kExtent * kExtent;
      probes.push_back({variant + "_" + kind.name + "_flops_per_s", Kind::compute, kFlops, make});
    }
  }
  return probes;
}

} // namespace kg::perf
