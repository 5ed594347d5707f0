// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole warp-specialised product and its mutants.
#include "tests/unit/kernels/runtime/warpgroup/multiply_ring.h"

#include "runtime/atomic_file.h"
#include "runtime/host/tensor_map.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

#include <bit>

namespace kg::warpgroup {
namespace {

using bulk::Form;
using bulk::form_name;
using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// Four tiles of c, of two blocks; five steps of k in a ring of three stages.
constexpr int kTilesDown = 2, kTilesAcross = 2, kRingSteps = 5;
constexpr int kRowsOfC = kTilesDown * kRingRows, kColumnsOfC = kTilesAcross * kRingColumns;
constexpr int kDepthOfC = kRingSteps * kRingDepth;

// Small integers in bf16: each sum is exact, in any order, and below 2^8, so that bf16 holds it.
std::vector<unsigned short> integers(unsigned state, int rows) {
  std::vector<unsigned short> bits(static_cast<std::size_t>(rows * kDepthOfC));
  for (unsigned short& each : bits) {
    state = state * 1664525 + 1013904223;
    const float value = state >> 24 >= 24 ? 0 : state >> 20 & 1 ? 1.0f : -1.0f;
    each = static_cast<unsigned short>(std::bit_cast<unsigned>(value) >> 16);
  }
  return bits;
}

TensorMap ring_map(const unsigned short* memory, int width, int rows, int box) {
  host::TiledTensor t;
  t.type = host::TensorType::bf16;
  t.rank = 2;
  t.base = const_cast<unsigned short*>(memory);
  t.extent = {static_cast<unsigned>(width), static_cast<unsigned>(rows)};
  t.stride = {static_cast<unsigned>(width) * 2};
  t.box = {64, static_cast<unsigned>(box)};
  t.element_stride = {1, 1};
  t.swizzle = host::Swizzle::bytes128;
  return host::encode(t);
}

class MultiplyRing : public bulk::Forms {
 protected:
  struct Outcome {
    std::vector<unsigned short> out;
    std::string message;
  };
  template <RingMutant kMutant>
  static Outcome run() {
    Outcome outcome;
    outcome.message = error_of([&] {
      Stream stream;
      const auto a = DeviceBuffer<unsigned short>::from_host(integers(1, kRowsOfC), stream);
      const auto b = DeviceBuffer<unsigned short>::from_host(integers(2, kColumnsOfC), stream);
      DeviceBuffer<unsigned short> c(kRowsOfC * kColumnsOfC);
      launch(multiply_ring<kMutant>,
             {.grid = 2,
              .block = kRingThreads,
              .shared_bytes = kRingBytes + kTilesAlignment,
              .stream = &stream},
             ring_map(a.data(), kDepthOfC, kRowsOfC, kRingRows),
             ring_map(b.data(), kDepthOfC, kColumnsOfC, kRingColumns),
             ring_map(c.data(), kColumnsOfC, kRowsOfC, 64), kTilesDown, kTilesAcross, kRingSteps);
      stream.synchronize();
      outcome.out = c.to_host(stream);
    });
    return outcome;
  }
  static const std::vector<unsigned short>& right() {
    static const std::vector<unsigned short> made = [] {
      const auto a = integers(1, kRowsOfC), b = integers(2, kColumnsOfC);
      const auto value = [](unsigned short bits) {
        return std::bit_cast<float>(unsigned{bits} << 16);
      };
      std::vector<unsigned short> out;
      for (int row = 0; row < kRowsOfC; ++row)
        for (int column = 0; column < kColumnsOfC; ++column) {
          float sum = 0;
          for (int k = 0; k < kDepthOfC; ++k)
            sum += value(a[row * kDepthOfC + k]) * value(b[column * kDepthOfC + k]);
          EXPECT_LT(sum * sum, 65536) << "not exact in bf16";
          out.push_back(static_cast<unsigned short>(std::bit_cast<unsigned>(sum) >> 16));
        }
      return out;
    }();
    return made;
  }
  template <RingMutant kMutant>
  static std::string found() {
    std::string all;
    under_every_order([&] {
      const Outcome outcome = run<kMutant>();
      all += !outcome.message.empty() ? outcome.message + "\n"
             : outcome.out == right() ? ""
                                      : "other results\n";
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(MultiplyRing);

TEST_P(MultiplyRing, GoodTwinIsRightAndSilent) { EXPECT_EQ(found<RingMutant::none>(), ""); }

TEST_P(MultiplyRing, WhatTrapsEverywhere) {
  EXPECT_THAT(found<RingMutant::parity_of_other_round>(),
              AllOf(HasSubstr("deadlock"), HasSubstr("multiply_ring.cu:"),
                    HasSubstr("(parity 1) of the mbarrier initialized at")));
  EXPECT_THAT(found<RingMutant::too_few_bytes>(),
              HasSubstr("16 bytes more have come than the 24560 expected at"));
  EXPECT_THAT(found<RingMutant::too_many_bytes>(), HasSubstr("16 bytes, of 24592 expected at"));
}

TEST_P(MultiplyRing, WhatGivesOtherResults) {
  EXPECT_THAT(found<RingMutant::store_not_waited_for>(),
              AnyOf(HasSubstr("other results"), HasSubstr("[race]")));
}

TEST_P(MultiplyRing, PtxasHasNoRemark) {
  if (GetParam() == Form::source) return;
  const std::string log = read_file(KERNELGRADE_FATBINS "/multiply_ring.log").value();
  EXPECT_THAT(log, AllOf(HasSubstr("multiply_ring"), Not(HasSubstr("(C75"))));
}

#if KG_CHECKED

TEST_P(MultiplyRing, FindingsNameBothSites) {
  EXPECT_THAT(found<RingMutant::proxy_fence_missing>(),
              AllOf(HasSubstr("[proxy]"), HasSubstr("multiply_ring.cu:"),
                    HasSubstr("put fence.proxy.async.shared::cta")));
  EXPECT_THAT(found<RingMutant::store_not_waited_for>(),
              AllOf(HasSubstr("[race]"), HasSubstr("multiply_ring.cu:")));
}

#endif

} // namespace
} // namespace kg::warpgroup
