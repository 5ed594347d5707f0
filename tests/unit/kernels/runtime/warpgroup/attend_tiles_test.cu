// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention's inner loop and its mutants: what traps, what gives other results in some order of the
// threads, what the checkers find, and what ptxas remarks.
#include "tests/unit/kernels/runtime/warpgroup/attend_tiles.h"

#include "runtime/atomic_file.h"
#include "runtime/host/tensor_map.h"
#include "tests/unit/kernels/runtime/bulk/forms.h"
#include "tests/unit/kernels/runtime/warpgroup/aligned_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace kg::warpgroup {
namespace {

using bulk::Form;
using bulk::form_name;
using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kTiles = 5, kRows = kTiles * kKeys; // of keys and values
constexpr float kScale = 0.18033688f;             // log2(e) / sqrt(64)

float value_of(unsigned short bits) { return std::bit_cast<float>(unsigned{bits} << 16); }

// bf16 from -1 to 1.
std::vector<unsigned short> numbers(unsigned state, int rows) {
  std::vector<unsigned short> bits(static_cast<std::size_t>(rows * kDepth));
  for (unsigned short& each : bits) {
    state = state * 1664525 + 1013904223;
    each = static_cast<unsigned short>((state >> 16 & 0x8000) | (0x3E80 + (state >> 20 & 0xFF)));
  }
  return bits;
}

TensorMap map_of(const unsigned short* memory, int rows, int box) {
  host::TiledTensor t;
  t.type = host::TensorType::bf16;
  t.rank = 2;
  t.base = const_cast<unsigned short*>(memory);
  t.extent = {kDepth, static_cast<unsigned>(rows)};
  t.stride = {kDepth * 2};
  t.box = {kDepth, static_cast<unsigned>(box)};
  t.element_stride = {1, 1};
  t.swizzle = host::Swizzle::bytes128;
  return host::encode(t);
}

class AttendTiles : public bulk::Forms {
 protected:
  struct Outcome {
    std::vector<float> out;
    std::string message;
  };
  template <AttendMutant kMutant>
  static Outcome run() {
    Outcome outcome;
    outcome.message = error_of([&] {
      Stream stream;
      const auto q = DeviceBuffer<unsigned short>::from_host(numbers(1, kQueries), stream);
      const auto k = DeviceBuffer<unsigned short>::from_host(numbers(2, kRows), stream);
      const auto v = DeviceBuffer<unsigned short>::from_host(numbers(3, kRows), stream);
      DeviceBuffer<float> out(kQueries * kDepth);
      launch(attend_tiles<kMutant>,
             {.grid = 1,
              .block = kAttendThreads,
              .shared_bytes = kAttendBytes + kTilesAlignment,
              .stream = &stream},
             map_of(q.data(), kQueries, kQueries), map_of(k.data(), kRows, kKeys),
             map_of(v.data(), kRows, kKeys), out.data(), kTiles, kScale);
      stream.synchronize();
      outcome.out = out.to_host(stream);
    });
    return outcome;
  }

  // The largest difference from attention in double, in units of its bound. A weight is rounded to
  // bf16, half of 2^-8 of it, and each |v| is at most 1, so that of the mean 2^-9 can be lost; as
  // much again covers what is in f32: 64 additions of a score, exponentials, kRows additions.
  static double error(const std::vector<float>& out) {
    const auto q = numbers(1, kQueries), k = numbers(2, kRows), v = numbers(3, kRows);
    const double bound = 2 * std::ldexp(1, -9);
    double worst = 0;
    for (int row = 0; row < kQueries; ++row) {
      std::vector<double> mean(kDepth);
      double total = 0;
      for (int key = 0; key < kRows; ++key) {
        double score = 0;
        for (int d = 0; d < kDepth; ++d)
          score += double{value_of(q[row * kDepth + d])} * value_of(k[key * kDepth + d]);
        const double weight = std::exp2(score * kScale);
        total += weight;
        for (int d = 0; d < kDepth; ++d) mean[d] += weight * value_of(v[key * kDepth + d]);
      }
      for (int d = 0; d < kDepth; ++d) {
        const double difference = std::abs(out[row * kDepth + d] - mean[d] / total);
        worst = std::max(worst, std::isfinite(difference) ? difference / bound : 1e30);
      }
    }
    return worst;
  }
  static std::string judged(const Outcome& outcome) {
    if (!outcome.message.empty()) return outcome.message + "\n";
    return error(outcome.out) <= 1 ? "" : "other results\n";
  }
  // What the orders of threads say of a mutant.
  template <AttendMutant kMutant>
  static std::string found() {
    std::string all;
    under_every_order([&] { all += judged(run<kMutant>()); });
    return all;
  }
};
KG_IN_BOTH_FORMS(AttendTiles);

TEST_P(AttendTiles, GoodTwinsAreRightAndSilent) {
  EXPECT_EQ(found<AttendMutant::none>(), "");
  EXPECT_EQ(found<AttendMutant::nothing_overlaps>(), "");
  const std::vector<float> out = run<AttendMutant::none>().out;
  EXPECT_GT(error(std::vector<float>(out.size())), 1) << "zeros";
  std::vector<float> turned = out;
  std::rotate(turned.begin(), turned.begin() + kDepth, turned.end());
  EXPECT_GT(error(turned), 1) << "rows of other queries";
}

TEST_P(AttendTiles, WhatTrapsEverywhere) {
  EXPECT_THAT(found<AttendMutant::parity_of_other_round>(),
              AllOf(HasSubstr("deadlock"), HasSubstr("attend_tiles.cu:"),
                    HasSubstr("(parity 1) of the mbarrier initialized at")));
  EXPECT_THAT(found<AttendMutant::register_fence_missing>(),
              AllOf(HasSubstr("attend_tiles.cu:"),
                    HasSubstr("a register of A has been written since the last wgmma.fence")));
  EXPECT_THAT(found<AttendMutant::too_few_bytes>(),
              HasSubstr("16 bytes more have come than the 8176 expected at"));
  EXPECT_THAT(found<AttendMutant::too_many_bytes>(), HasSubstr("16 bytes, of 8208 expected at"));
  EXPECT_THAT(found<AttendMutant::weights_overwritten>(),
              AllOf(HasSubstr("a register of A of the wgmma at"),
                    HasSubstr("was written while that was pending; wait for its group")));
}

TEST_P(AttendTiles, WhatGivesOtherResults) {
  EXPECT_THAT(found<AttendMutant::values_released_early>(),
              AnyOf(HasSubstr("other results"), HasSubstr("[race]")));
  // nvcc moves the multiplication behind the wait.
  if (GetParam() == Form::source) {
    EXPECT_THAT(found<AttendMutant::sums_scaled_early>(), HasSubstr("other results"));
  }
}

// Of the kernels that a fence or a wait is missing in, and of no other.
TEST_P(AttendTiles, PtxasRemarks) {
  if (GetParam() == Form::source) return;
  const std::string log = read_file(KERNELGRADE_FATBINS "/attend_tiles.log").value();
  const auto remark = [&](const std::string& code, AttendMutant mutant) {
    const std::size_t at = log.find("(" + code + ")");
    return at != log.npos &&
           log.substr(at, log.find('\n', at) - at)
                   .find(fmt::format("AttendMutantE{}E", static_cast<int>(mutant))) != log.npos;
  };
  EXPECT_TRUE(remark("C7519", AttendMutant::register_fence_missing));
  EXPECT_TRUE(remark("C7513", AttendMutant::weights_overwritten));
  std::size_t remarks = 0;
  for (std::size_t at = 0; (at = log.find("(C75", at)) != log.npos; ++at) ++remarks;
  EXPECT_EQ(remarks, 2u) << log;
}

#if KG_CHECKED

TEST_P(AttendTiles, FindingsNameBothSites) {
  EXPECT_THAT(found<AttendMutant::values_released_early>(),
              AllOf(HasSubstr("[race]"), HasSubstr("is reading by wgmma at"),
                    HasSubstr("attend_tiles.cu:"), HasSubstr("wait for the group of the wgmma")));
}

#endif

} // namespace
} // namespace kg::warpgroup
