// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gemm.h"
#include "perf/lab/ceilings/probes.h"
#include "perf/measure/random_data.h"
#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "tests/oracle/random.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

// The size at which vendors quote their rates.
constexpr std::int64_t kExtent = 8192;

// The operands' type and the arithmetic.
struct Arithmetic {
  Dtype dtype;
  bool tf32;
  std::string name;
};

// Random, because a GPU draws less power on zeros, and so runs faster: no GEMM of real numbers
// reaches the rate of zeros.
template <class T>
class Squares {
 public:
  Squares(bool tf32, Stream& stream)
      : tf32_(tf32), a_(kExtent * kExtent, test::Tensor::a, stream),
        b_(kExtent * kExtent, test::Tensor::b, stream),
        c_(static_cast<std::size_t>(kExtent * kExtent)) {}

  void multiply(std::string_view variant, Stream& stream) {
    vendor::Gemm product = {test::DtypeOf<T>::value,
                            false,
                            false,
                            kExtent,
                            kExtent,
                            kExtent,
                            1,
                            a_.data(),
                            kExtent,
                            b_.data(),
                            kExtent,
                            0,
                            c_.data(),
                            kExtent};
    product.tf32 = tf32_;
    vendor::gemm(variant, product, vendor::Math::fastest, stream);
  }

  void poison(Stream& stream) { c_.poison(stream); }

  // Checks a few elements against their definition: the work was done.
  std::string verify(Stream& stream) const {
    constexpr std::int64_t kLooked = 16;
    const test::Random random(test::seed(), 0x78);
    for (std::uint64_t i = 0; i < kLooked; ++i) {
      const std::int64_t row = random.integer(2 * i, 0, kExtent - 1);
      const std::int64_t col = random.integer(2 * i + 1, 0, kExtent - 1);
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < kExtent; ++k) {
        const double term =
            test::to_double(a_.at(row * kExtent + k)) * test::to_double(b_.at(k * kExtent + col));
        sum += term;
        size += std::fabs(term);
      }
      T found;
      copy_to_host(&found, c_.data() + row * kExtent + col, sizeof(T), stream);
      // The terms cancel; storing and TF32 inputs (2^-10 each) err by far less than this.
      constexpr double kShare = 0.01;
      if (!(std::fabs(test::to_double(found) - sum) <= kShare * size))
        return "element (" + std::to_string(row) + ", " + std::to_string(col) + ") is " +
               std::to_string(test::to_double(found)) + ", not " + std::to_string(sum);
    }
    return "";
  }

 private:
  bool tf32_;
  RandomData<T> a_, b_;
  DeviceBuffer<T> c_;
};

template <class T>
Workload workload_of(const std::string& variant, bool tf32) {
  Stream stream;
  auto squares = std::make_shared<Squares<T>>(tf32, stream);
  return {[=](Stream& s) { squares->multiply(variant, s); }, [=](Stream& s) { squares->poison(s); },
          [=](Stream& s) { return squares->verify(s); }, variant};
}

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
        if (kind.dtype == Dtype::f16) return workload_of<f16>(variant, kind.tf32);
        if (kind.dtype == Dtype::bf16) return workload_of<bf16>(variant, kind.tf32);
        return workload_of<float>(variant, kind.tf32);
      };
      constexpr double kFlops = 2.0 * kExtent * kExtent * kExtent;
      probes.push_back({variant + "_" + kind.name + "_flops_per_s", Bound::compute, kFlops, make});
    }
  }
  return probes;
}

} // namespace kg::perf
