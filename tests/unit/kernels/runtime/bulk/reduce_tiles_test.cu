// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk reductions, from the source and from what nvcc made of it: every operation and type against
// values written out here, boxes of each rank and swizzle, and what is said of each mutant.
#include "tests/unit/kernels/runtime/bulk/reduce_tiles.h"

#include "tests/unit/kernels/runtime/bulk/box_oracle.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"

#include <bit>
#include <limits>

namespace kg::bulk {
namespace {

using executor::error_of;
using executor::under_every_order;
using host::Swizzle;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

class ReduceTiles : public Forms {
 protected:
  // The bits of what the reduction makes of `to` and `from`.
  template <class T, class Bits>
  static Bits reduced(ReduceOp op, Bits to, Bits from) {
    Stream stream;
    const std::vector<T> before(kReduced, std::bit_cast<T>(to));
    const std::vector<T> by(kReduced, std::bit_cast<T>(from));
    auto memory = DeviceBuffer<T>::from_host(before, stream);
    const auto other = DeviceBuffer<T>::from_host(by, stream);
    launch(reduce_elements<T>, {.grid = 1, .block = kReduced, .stream = &stream}, op, memory.data(),
           other.data());
    const std::vector<T> after = memory.to_host(stream);
    for (const T& each : after)
      EXPECT_EQ(std::bit_cast<Bits>(each), std::bit_cast<Bits>(after[0])) << static_cast<int>(op);
    return std::bit_cast<Bits>(after[0]);
  }

  struct Outcome {
    std::vector<float> sums, seen;
    std::string message;
  };
  static Outcome run(ReduceMutant mutant, unsigned blocks) {
    Stream stream;
    auto sums = DeviceBuffer<float>::from_host(std::vector<float>(kReduced, 100), stream);
    DeviceBuffer<float> seen(kReduced);
    Outcome outcome;
    outcome.message = error_of([&] {
      launch(reduce_tiles, {.grid = blocks, .block = kReduced, .stream = &stream}, sums.data(),
             blocks == 1 ? seen.data() : nullptr, mutant);
      stream.synchronize();
    });
    if (!outcome.message.empty()) return outcome;
    outcome.sums = sums.to_host(stream);
    if (blocks == 1) outcome.seen = seen.to_host(stream);
    return outcome;
  }
  static std::string found(ReduceMutant mutant) {
    std::string all;
    under_every_order([&] { all += run(mutant, 1).message; });
    return all;
  }
};
KG_IN_BOTH_FORMS(ReduceTiles);

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

TEST_P(ReduceTiles, Integers) {
  const u32 word = 0x80000001u;
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::add, word, 0x80000003u)), 4u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::min, word, 7)), 7u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::max, word, 7)), word);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::inc, 6, 7)), 7u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::inc, 7, 7)), 0u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::dec, 0, 7)), 7u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::dec, 9, 7)), 7u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::dec, 5, 7)), 4u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::bit_and, 12, 10)), 8u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::bit_or, 12, 10)), 14u);
  EXPECT_EQ((reduced<u32, u32>(ReduceOp::bit_xor, 12, 10)), 6u);
  EXPECT_EQ((reduced<s32, u32>(ReduceOp::add, 0x7FFFFFFF, 2)), word);
  EXPECT_EQ((reduced<s32, u32>(ReduceOp::min, word, 7)), word);
  EXPECT_EQ((reduced<s32, u32>(ReduceOp::max, word, 7)), 7u);
  const u64 wide = 0x8000000000000001u;
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::add, 0xFFFFFFFFu, 1)), u64{1} << 32);
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::min, wide, 7)), 7u);
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::max, wide, 7)), wide);
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::bit_and, wide, u64{3} << 62)), u64{1} << 63);
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::bit_or, wide, 2)), wide + 2);
  EXPECT_EQ((reduced<u64, u64>(ReduceOp::bit_xor, wide, wide + 2)), 2u);
  EXPECT_EQ((reduced<s64, u64>(ReduceOp::min, wide, 7)), wide);
  EXPECT_EQ((reduced<s64, u64>(ReduceOp::max, wide, 7)), 7u);
}

TEST_P(ReduceTiles, Floats) {
  const auto sum = [](float a, float b) {
    return reduced<float, u32>(ReduceOp::add, std::bit_cast<u32>(a), std::bit_cast<u32>(b));
  };
  EXPECT_EQ(sum(1, 0x1p-24f), std::bit_cast<u32>(1.f)); // a tie, to even
  EXPECT_EQ(sum(1, 0x1.8p-24f), std::bit_cast<u32>(1 + 0x1p-23f));
  EXPECT_EQ(sum(-0x1p-140f, -0.f), 0x80000000u); // subnormal
  EXPECT_EQ(sum(0x1.8p-126f, -0x1p-126f), 0u);   // becomes subnormal
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sum(infinite, -infinite), 0x7FFFFFFFu);
  EXPECT_EQ((reduced<double, u64>(ReduceOp::add, std::bit_cast<u64>(1.), std::bit_cast<u64>(2.))),
            std::bit_cast<u64>(3.));
  EXPECT_EQ((reduced<double, u64>(ReduceOp::add, 1, 2)), 3u); // subnormal
}

TEST_P(ReduceTiles, Halves) {
  using Bits = std::uint16_t;
  const auto half = [](ReduceOp op, Bits a, Bits b) { return reduced<f16, Bits>(op, a, b); };
  EXPECT_EQ(half(ReduceOp::add, 0x3C00, 0x1000), 0x3C00); // 1 + 2^-11, a tie to even
  EXPECT_EQ(half(ReduceOp::add, 0x3C00, 0x1001), 0x3C01);
  EXPECT_EQ(half(ReduceOp::add, 0x0001, 0x0002), 0x0003); // subnormal
  EXPECT_EQ(half(ReduceOp::add, 0x7C00, 0xFC00), 0x7FFF); // infinity - infinity
  EXPECT_EQ(half(ReduceOp::min, 0x3C00, 0xC000), 0xC000);
  EXPECT_EQ(half(ReduceOp::max, 0x3C00, 0xC000), 0x3C00);
  EXPECT_EQ(half(ReduceOp::max, 0x7E00, 0xC000), 0xC000); // NaN
  EXPECT_EQ(half(ReduceOp::min, 0x0000, 0x8000), 0x8000);
  const auto brain = [](ReduceOp op, Bits a, Bits b) { return reduced<bf16, Bits>(op, a, b); };
  EXPECT_EQ(brain(ReduceOp::add, 0x3F80, 0x3B80), 0x3F80); // 1 + 2^-8, a tie to even
  EXPECT_EQ(brain(ReduceOp::add, 0x3F80, 0x3B81), 0x3F81);
  EXPECT_EQ(brain(ReduceOp::add, 0x0001, 0x0002), 0x0003); // subnormal
  EXPECT_EQ(brain(ReduceOp::min, 0x3F80, 0xC000), 0xC000);
  EXPECT_EQ(brain(ReduceOp::max, 0x3F80, 0xC000), 0x3F80);
}

TEST_P(ReduceTiles, ManyReduceIntoOnePlace) {
  under_every_order([] {
    for (const unsigned blocks : {1u, 3u}) {
      for (const bool atomics : {false, true}) {
        const Outcome outcome =
            run(atomics ? ReduceMutant::atomics_beside : ReduceMutant::none, blocks);
        ASSERT_EQ(outcome.message, "");
        for (unsigned i = 0; i < kReduced; ++i)
          ASSERT_EQ(outcome.sums[i],
                    static_cast<float>(100 + blocks * (2 * (i + 1) + (atomics ? 1 : 0))));
        EXPECT_TRUE(blocks != 1 || outcome.seen == outcome.sums);
      }
    }
  });
}

TEST_P(ReduceTiles, TheEndOfTheKernelCompletesThem) {
  under_every_order([] {
    Stream stream;
    auto sums = DeviceBuffer<float>::from_host(std::vector<float>(kReduced, 100), stream);
    DeviceBuffer<float> seen(kReduced);
    launch(reduce_tiles, {.grid = 3, .block = kReduced, .stream = &stream}, sums.data(), nullptr,
           ReduceMutant::sum_not_awaited);
    launch(reduce_tiles, {.grid = 1, .block = kReduced, .stream = &stream}, sums.data(),
           seen.data(), ReduceMutant::none);
    const std::vector<float> values = seen.to_host(stream);
    for (unsigned i = 0; i < kReduced; ++i)
      ASSERT_EQ(values[i], static_cast<float>(100 + 4 * 2 * (i + 1)));
  });
}

TEST_P(ReduceTiles, BoxesOfEachRankAndSwizzle) {
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (const Swizzle swizzle :
         {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128})
      for (const Coordinates& first : kOrigins)
        for (const ReduceOp op : {ReduceOp::add, ReduceOp::max}) {
          Stream stream;
          std::vector<f16> expected(kTensorBytes / 2);
          for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = __float2half_rn(static_cast<float>(i % 301));
          auto tensor = DeviceBuffer<f16>::from_host(expected, stream);
          host::TiledTensor t = small_tensor(tensor.data(), rank, swizzle);
          t.type = host::TensorType::f16;
          for_each_element(t, first, [&](unsigned place, std::int64_t byte, bool inside) {
            if (!inside) return;
            const float old = static_cast<float>(byte / 2 % 301),
                        by = static_cast<float>(place % 512);
            expected[static_cast<std::size_t>(byte / 2)] =
                __float2half_rn(op == ReduceOp::add ? old + by : std::max(old, by));
          });
          launch(reduce_box, {.grid = 1, .block = kBoxThreads, .stream = &stream}, encode(t),
                 static_cast<int>(rank), Origin{{first[0], first[1], first[2], first[3], first[4]}},
                 op);
          const std::vector<f16> after = tensor.to_host(stream);
          for (std::size_t i = 0; i < after.size(); ++i)
            ASSERT_EQ(std::bit_cast<std::uint16_t>(after[i]),
                      std::bit_cast<std::uint16_t>(expected[i]))
                << rank << ' ' << static_cast<int>(swizzle) << ' ' << first[0] << " at " << i;
        }
}

TEST_P(ReduceTiles, TypesWithoutTheReductionAreRefused) {
  Stream stream;
  DeviceBuffer<f16> tensor(kTensorBytes / 2);
  host::TiledTensor t = small_tensor(tensor.data(), 2);
  for (const host::TensorType type : {host::TensorType::u16, host::TensorType::f16}) {
    t.type = type;
    EXPECT_THAT(error_of([&] {
                  launch(reduce_box, {.grid = 1, .block = kBoxThreads, .stream = &stream},
                         encode(t), 2, Origin{}, ReduceOp::bit_or);
                  stream.synchronize();
                }),
                AllOf(HasSubstr("a type without this reduction"), HasSubstr("reduce_tiles.cu:")));
  }
}

#if !KG_CHECKED

TEST_P(ReduceTiles, MutantsChangeTheResult) {
  bool differs = false;
  under_every_order([&] {
    differs |= run(ReduceMutant::tile_overwritten, 1).sums != run(ReduceMutant::none, 1).sums;
  });
  EXPECT_TRUE(differs);
}

#else

TEST_P(ReduceTiles, FindingsNameBothSites) {
  const auto both = [](const char* first, const char* second) {
    return AllOf(HasSubstr(first), HasSubstr(second),
                 ContainsRegex("reduce_tiles.cu:[0-9]+.*reduce_tiles.cu:[0-9]+"));
  };
  EXPECT_THAT(found(ReduceMutant::fence_missing),
              both("[proxy]", "put fence.proxy.async.shared::cta"));
  EXPECT_THAT(found(ReduceMutant::tile_overwritten),
              both("[race]", "wait_group.read by the thread that issued it"));
  EXPECT_THAT(found(ReduceMutant::sum_not_awaited),
              both("is still reducing into", "wait_group by the thread that issued it"));
  EXPECT_THAT(found(ReduceMutant::one_of_two_not_awaited), HasSubstr("is still reducing into"));
  EXPECT_THAT(found(ReduceMutant::plain_write_beside), both("[race]", "writes 4 bytes"));
}

#endif

} // namespace
} // namespace kg::bulk
