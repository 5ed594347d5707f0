// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to random_fill; its card configures those of every operation.
#include "ops/random_fill/random_fill.h"

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/random_streams.h"
#include "tests/oracle/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <vector>

namespace kg::card {
namespace {

using random_fill::Kind;

template <class T>
std::vector<T> filled(random_fill::Problem<T> p, random_fill::Variant variant, Stream& stream) {
  const DeviceBuffer<T> y(static_cast<std::size_t>(p.n));
  p.y = y.data();
  random_fill::run(p, variant, stream);
  return y.to_host(stream);
}

// cuRAND's host generators, which need no GPU, as declared in curand.h.
class Curand {
 public:
  static std::unique_ptr<Curand> open() {
    for (const char* const name : {"libcurand.so.10", "/usr/local/cuda/lib64/libcurand.so.10"})
      if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return std::unique_ptr<Curand>(new Curand(library));
    return nullptr;
  }

  // `n` uniform or standard normal numbers from `offset`. Each of the generator's 2^16 subsequences
  // yields four numbers in turn.
  std::vector<float> numbers(Kind kind, std::uint64_t seed, std::uint64_t offset,
                             std::size_t n) const {
    constexpr int kPhilox = 161, kLegacyOrdering = 103;
    using Generator = void*;
    Generator generator = nullptr;
    std::vector<float> result(n);
    const auto call = [&](const char* name, auto... arguments) {
      using Function = int (*)(decltype(arguments)...);
      const auto function = reinterpret_cast<Function>(dlsym(library_, name));
      require(function != nullptr, std::string("cuRAND lacks ") + name);
      const int status = function(arguments...);
      require(status == 0, std::string(name) + " gives " + std::to_string(status));
    };
    call("curandCreateGeneratorHost", &generator, kPhilox);
    call("curandSetGeneratorOrdering", generator, kLegacyOrdering);
    call("curandSetPseudoRandomGeneratorSeed", generator, static_cast<unsigned long long>(seed));
    call("curandSetGeneratorOffset", generator, static_cast<unsigned long long>(offset));
    if (kind == Kind::uniform)
      call("curandGenerateUniform", generator, result.data(), n);
    else
      call("curandGenerateNormal", generator, result.data(), n, 0.0F, 1.0F);
    call("curandDestroyGenerator", generator);
    return result;
  }

 private:
  explicit Curand(void* library) : library_(library) {}
  void* library_;
};

// Only if the library is installed; the words themselves are known (dropout_test.cu). Uniform
// numbers have equal bits.
KG_OWN_TEST(CurandHasTheSame) {
  const std::unique_ptr<Curand> curand = Curand::open();
  testing::Test::RecordProperty("curand", curand ? "compared" : "not here");
  if (!curand || judge.dtype() != Dtype::f32) return;
  constexpr std::int64_t kSequences = 1 << 16;
  constexpr std::uint64_t kSeed = 0x123456789ABCDEF0;
  for (const Kind kind : {Kind::uniform, Kind::normal}) {
    const std::vector<float> theirs =
        curand->numbers(kind, kSeed, 0, static_cast<std::size_t>(8 * kSequences));
    for (const std::int64_t sequence : {0, 1, 2, 77, 65535})
      for (const random_fill::Variant variant : random_fill::kVariants) {
        const std::vector<float> ours = filled<float>(
            {.kind = kind,
             .n = 8,
             .stream = {.seed = kSeed, .subsequence = static_cast<std::uint64_t>(sequence)}},
            variant, judge.stream());
        for (std::int64_t i = 0; i < 8; ++i) {
          const float own = ours[static_cast<std::size_t>(i)];
          const float other =
              theirs[static_cast<std::size_t>(4 * sequence + i % 4 + i / 4 * 4 * kSequences)];
          // For normal numbers below 6.8, the tolerances of random_fill_card.cu.
          const double bound = kind == Kind::uniform ? 0 : 6.8 * 32 * unit_roundoff(Dtype::f32);
          EXPECT_NEAR(own, other, bound)
              << name(kind) << ", subsequence " << sequence << ", number " << i;
        }
      }
  }
}

// Equal for every variant, wherever an array is split: at an even element if numbers come in pairs.
KG_OWN_TEST(ArraysMayBeCut) {
  dispatch(judge.dtype(), [&]<class T>() {
    const auto as_bits = [](const std::vector<T>& values) {
      std::vector<unsigned char> result(values.size() * sizeof(T));
      std::memcpy(result.data(), values.data(), result.size());
      return result;
    };
    for (const Kind kind : random_fill::kKinds)
      for (const random_fill::Variant variant : random_fill::kVariants) {
        const std::vector<T> whole =
            filled<T>({.kind = kind, .n = 3000, .stream = {.seed = 5}}, variant, judge.stream());
        for (const std::int64_t cut : {2, 4, 6, 1000}) {
          const std::vector<T> rest =
              filled<T>({.kind = kind,
                         .n = 3000 - cut,
                         .stream = {.seed = 5, .offset = static_cast<std::uint64_t>(cut)}},
                        variant, judge.stream());
          EXPECT_EQ(as_bits(rest), as_bits({whole.begin() + cut, whole.end()}))
              << name(kind) << " " << name(variant) << ", cut at " << cut;
        }
      }
  });
}

// Mean and variance within six standard deviations; the stream is fixed, so the test is
// deterministic.
KG_OWN_TEST(DistributionsAreRight) {
  constexpr std::int64_t kN = 40000;
  struct Moments {
    Kind kind;
    double mean, variance, fourth; // of the distribution; fourth: central moment
  };
  for (const Moments& right :
       {Moments{Kind::uniform, 0.5, 1 / 12.0, 1 / 80.0}, Moments{Kind::normal, 0, 1, 3},
        Moments{Kind::bernoulli, 0.5, 0.25, 0.0625}})
    dispatch(judge.dtype(), [&]<class T>() {
      double mean = 0, variance = 0;
      for (const T y : filled<T>({.kind = right.kind, .n = kN, .stream = {.seed = 3}},
                                 random_fill::Variant::automatic, judge.stream())) {
        mean += to_float(y) / static_cast<double>(kN);
        variance += (to_float(y) - right.mean) * (to_float(y) - right.mean) / kN;
      }
      // The error of a mean of values rounded to T is less than one rounding.
      const double rounding = unit_roundoff(judge.dtype());
      EXPECT_NEAR(mean, right.mean, 6 * std::sqrt(right.variance / kN) + rounding)
          << name(right.kind);
      EXPECT_NEAR(variance, right.variance,
                  6 * std::sqrt((right.fourth - right.variance * right.variance) / kN) +
                      4 * rounding)
          << name(right.kind);
    });
}

} // namespace
} // namespace kg::card
