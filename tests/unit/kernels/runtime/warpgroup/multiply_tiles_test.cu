// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma on tiles that bulk copies bring, and its mutants: what traps anywhere, what gives other
// sums in some order of the threads, and what the checkers find.
#include "tests/unit/kernels/runtime/warpgroup/multiply_tiles.h"

#include "runtime/host/tensor_map.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

#include <bit>
#include <cmath>

namespace kg::warpgroup {
namespace {

using bulk::Form;
using bulk::form_name;
using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kSteps = 5;
constexpr unsigned kDepth = kSteps * kTileDepth;

// bf16, by rows of kDepth.
std::vector<unsigned short> numbers(unsigned rows) {
  std::vector<unsigned short> bits(rows * kDepth);
  unsigned state = rows;
  for (unsigned short& each : bits) {
    state = state * 1664525 + 1013904223;
    each = static_cast<unsigned short>((state >> 16 & 0x8000) | (0x3F00 + (state >> 20 & 0x7F)));
  }
  return bits;
}

TensorMap map_of(const unsigned short* memory, unsigned rows,
                 host::Swizzle swizzle = host::Swizzle::bytes128) {
  host::TiledTensor t;
  t.type = host::TensorType::bf16;
  t.rank = 2;
  t.base = const_cast<unsigned short*>(memory);
  t.extent = {kDepth, rows};
  t.stride = {kDepth * 2};
  t.box = {kTileDepth, rows};
  t.element_stride = {1, 1};
  t.swizzle = swizzle;
  return host::encode(t);
}

class MultiplyTiles : public bulk::Forms {
 protected:
  struct Outcome {
    std::vector<float> out;
    std::string message;
  };
  static Outcome run(TilesMutant mutant, bool spread = false,
                     host::Swizzle swizzle_of_b = host::Swizzle::bytes128) {
    Outcome outcome;
    outcome.message = error_of([&] {
      Stream stream;
      const auto a = DeviceBuffer<unsigned short>::from_host(numbers(kTileRows), stream);
      const auto b = DeviceBuffer<unsigned short>::from_host(numbers(kTileColumns), stream);
      DeviceBuffer<float> out(2 * kTileRows * kTileColumns + 1);
      constexpr std::size_t kBytes =
          2 * (kTileRows + kTileColumns) * kTileDepth * 2 + kTilesAlignment;
      launch(multiply_tiles,
             {.grid = 1, .block = kTilesThreads, .shared_bytes = kBytes, .stream = &stream},
             map_of(a.data(), kTileRows), map_of(b.data(), kTileColumns, swizzle_of_b), out.data(),
             kSteps, spread, mutant);
      stream.synchronize();
      outcome.out = out.to_host(stream);
      outcome.out.pop_back();
    });
    return outcome;
  }
  static std::vector<float> right() {
    const auto a = numbers(kTileRows), b = numbers(kTileColumns);
    const auto value = [](unsigned short bits) { return std::bit_cast<float>(bits << 16); };
    std::vector<float> out(kTileRows * kTileColumns);
    for (unsigned row = 0; row < kTileRows; ++row)
      for (unsigned column = 0; column < kTileColumns; ++column)
        for (unsigned k = 0; k < kDepth; ++k)
          out[row * kTileColumns + column] +=
              2 * value(a[row * kDepth + k]) * value(b[column * kDepth + k]);
    const std::vector<float> of_first = out;
    out.insert(out.end(), of_first.begin(), of_first.end());
    return out;
  }
  // What the orders of threads say of a mutant; "other sums" where nothing else does.
  static std::string found(TilesMutant mutant, bool spread = false) {
    std::string all;
    under_every_order([&] {
      const Outcome outcome = run(mutant, spread);
      all += !outcome.message.empty() ? outcome.message + "\n"
             : outcome.out == right() ? ""
                                      : "other sums\n";
    });
    return all;
  }
};
KG_IN_BOTH_FORMS(MultiplyTiles);

TEST_P(MultiplyTiles, GoodTwinsAreRightAndSilent) {
  EXPECT_EQ(found(TilesMutant::none), "");
  EXPECT_EQ(found(TilesMutant::none, true), "");
}

TEST_P(MultiplyTiles, WhatTrapsEverywhere) {
  EXPECT_THAT(found(TilesMutant::register_fence_missing),
              AllOf(HasSubstr("multiply_tiles.cu:"), HasSubstr("fence before")));
  EXPECT_THAT(found(TilesMutant::one_thread_differs),
              HasSubstr("do not give it the same descriptors"));
  EXPECT_THAT(found(TilesMutant::half_of_warpgroup),
              AnyOf(HasSubstr("without executing the wgmma"), HasSubstr("deadlock")));
}

TEST_P(MultiplyTiles, WhatGivesOtherSums) {
  for (const TilesMutant mutant : {TilesMutant::start_of_another, TilesMutant::stride_of_another})
    EXPECT_THAT(found(mutant), HasSubstr("other sums"));
  EXPECT_THAT(found(TilesMutant::swizzle_of_another),
              AnyOf(HasSubstr("other sums"), // the checkers say why
                    HasSubstr("as a tile with the 64-byte swizzle, which the bulk copy at")));
  EXPECT_NE(run(TilesMutant::none, false, host::Swizzle::none).out, right());
  EXPECT_THAT(found(TilesMutant::waits_for_one_too_few),
              AnyOf(HasSubstr("pending"), HasSubstr("other sums")));
  EXPECT_THAT(found(TilesMutant::commit_missing), HasSubstr("pending"));
  EXPECT_THAT(found(TilesMutant::released_early),
              AnyOf(HasSubstr("other sums"), HasSubstr("[race]")));
}

TEST_P(MultiplyTiles, SumsBeforeTheWait) {
  // In the source a sum is memory of the thread: it holds NaN, which the value shows.
  if (GetParam() == Form::ptx) {
    EXPECT_THAT(found(TilesMutant::sum_read_early), HasSubstr("is read while that is pending"));
  }
}

#if KG_CHECKED

TEST_P(MultiplyTiles, FindingsNameBothSites) {
  EXPECT_THAT(found(TilesMutant::proxy_fence_missing),
              AllOf(HasSubstr("[proxy]"), HasSubstr("put fence.proxy.async.shared::cta")));
  EXPECT_THAT(found(TilesMutant::released_early),
              AllOf(HasSubstr("[race]"), HasSubstr("is reading by wgmma at"),
                    HasSubstr("multiply_tiles.cu:"), HasSubstr("wait for the group of the wgmma")));
  EXPECT_THAT(run(TilesMutant::none, false, host::Swizzle::none).message,
              AllOf(HasSubstr("[proxy]"), HasSubstr("as a tile with the 128-byte swizzle"),
                    HasSubstr("wrote without a swizzle")));
}

#endif

} // namespace
} // namespace kg::warpgroup
