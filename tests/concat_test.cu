// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// concat and split move bits, so every comparison is bitwise, NaN payloads included.
#include "runtime/device.h"
#include "tests/concat_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/huge.h"
#include "tests/support/metamorphic.h"
#include "tests/support/repeats.h"
#include "vendor/concat/concat.h"

#include "primitives/row_move.h"

namespace kg::test {
namespace {

TYPED_TEST_SUITE(Concat, MovedTypes, DtypeNames);

TYPED_TEST(Concat, Sizes) {
  for (const std::int64_t outer : {1, 2, 33})
    for (const std::int64_t inner : {1, 3, 6, 8, 12, 17}) this->check({outer, {1, 2, 5}, inner});
  this->check({1, {1}, 1});
  this->check({5, {7}, 33});
  this->check({2, {1, 500}, 9});
  // Rows that begin at every second, or fourth, element of a pack.
  for (const std::int64_t inner : {this->kPack + 2, 20 * this->kPack + 2, 20 * this->kPack + 4})
    for (const std::int64_t last : {2, 4}) this->check({5, {1, 2, last}, inner});
}

// Rows of whole packs, where every row of every part is aligned.
TYPED_TEST(Concat, WholePacks) {
  const std::int64_t pack = this->kPack;
  this->check({9, {1, 3, 2}, pack});
  this->check({3, {8, 32, 33}, 4 * pack});
  this->check({2, {1100, 5}, pack});
}

// More parts than a launch takes, and parts without elements.
TYPED_TEST(Concat, ManyParts) {
  this->check({3, {1, 2, 3, 4, 5, 6, 7, 8}, 2});
  this->check({3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 2});
  this->check({3, std::vector<std::int64_t>(20, 1), 5});
  this->check({3, {0, 4, 0, 0, 2, 0}, 5});
}

TYPED_TEST(Concat, Misaligned) {
  const std::int64_t pack = this->kPack;
  for (const Offsets offsets : {Offsets{1, 0}, Offsets{0, 1}, Offsets{1, 1}, Offsets{3, 2}}) {
    this->check({4, {2, 3}, 3 * pack}, offsets);
    this->check({4, {2, 3}, 5 * pack + 1}, offsets);
    this->check({1, {40 * pack, 3}, 1}, offsets);
  }
}

TYPED_TEST(Concat, Empty) {
  for (const Variant variant : kVariants)
    for (const Problem& p : {Problem{0, {1, 2}, 3}, Problem{4, {0, 0}, 3}, Problem{4, {1, 2}, 0}}) {
      EXPECT_TRUE(this->concat(variant, {{}, {}}, p).empty());
      for (const auto& part : this->split(variant, {}, p)) EXPECT_TRUE(part.empty());
    }
  LaunchRecorder recorder;
  concat::run_concat({}, nullptr, {3, 4, {}}, sizeof(TypeParam), Variant::automatic, this->stream_);
  EXPECT_TRUE(recorder.launches().empty());
}

// Every pattern of the types that have few.
TYPED_TEST(Concat, AllPatterns) {
  constexpr std::int64_t kPatterns = 1 << (sizeof(TypeParam) == 1 ? 8 : 16);
  if (sizeof(TypeParam) <= 2) this->check({1, {77, kPatterns - 77}, 1});
}

// Rows that no block of the first grid takes.
TYPED_TEST(Concat, BeyondOneGrid) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kRowBlocksPerSm;
  this->check({resident * 32 + 33, {1, 2}, 1});
}

// Indices beyond 32 bits in the whole.
TYPED_TEST(Concat, MoreThan2To31Elements) {
  using T = TypeParam;
  const Problem p{2, {1 << 28, (1 << 28) + 2}, 2};
  const auto count = static_cast<std::size_t>(p.size());
  const std::string reason = too_huge_reason(2 * count * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const T everywhere = from_raw_bits<T>(0x3C3C3C3C3C3C3C3C & poison_bits(this->kDtype));
  std::vector<DeviceBuffer<T>> parts;
  std::vector<void*> pointers;
  std::vector<Marks<T>> marks(p.extents.size());
  Marks<T> whole;
  std::int64_t first = 0;
  for (std::size_t part = 0; part < p.extents.size(); ++part) {
    const std::int64_t cols = p.extents[part] * p.inner;
    parts.emplace_back(static_cast<std::size_t>(p.outer * cols));
    for (const std::int64_t i : {std::int64_t{0}, cols - 1, cols, 2 * cols - 1}) {
      const T mark = from_raw_bits<T>(static_cast<std::uint64_t>(whole.size() + 1));
      marks[part][i] = mark;
      whole[i / cols * p.extent() * p.inner + first + i % cols] = mark;
    }
    pointers.push_back(parts.back().data());
    first += cols;
  }
  const DeviceBuffer<T> y(count);
  for (const Variant variant : kVariants) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      fill_bytes(parts[part].data(), 0x3C, parts[part].bytes(), this->stream_);
      put(marks[part], parts[part], this->stream_);
    }
    fill_bytes(y.data(), 0, y.bytes(), this->stream_);
    concat::run_concat(std::vector<const void*>(pointers.begin(), pointers.end()), y.data(),
                       p.view(), sizeof(T), variant, this->stream_);
    EXPECT_TRUE(holds(y, everywhere, whole, this->stream_)) << concat::name(variant);
    for (const auto& part : parts) fill_bytes(part.data(), 0, part.bytes(), this->stream_);
    concat::run_split(y.data(), pointers, p.view(), sizeof(T), variant, this->stream_);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      EXPECT_TRUE(holds(parts[part], everywhere, marks[part], this->stream_))
          << concat::name(variant);
      EXPECT_NO_THROW(parts[part].check_guards());
    }
    EXPECT_NO_THROW(y.check_guards());
  }
}

// Numbers: a library may move elements through its arithmetic, which keeps no NaN payload.
TYPED_TEST(Concat, RandomBesideVendors) {
  using T = TypeParam;
  const Problem p{13, {3, 8, 0, 1}, 10};
  const vendor::ConcatShape shape{p.outer, p.inner, p.extents};
  const auto vendors = vendor::concat_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("concat", this->kDtype);
  const auto values = random_numbers(this->kDtype, p.size(), Tensor::a).values;
  const Expectation expected = exactly(this->kDtype, {p.outer, p.extent() * p.inner}, values);
  EXPECT_TRUE(not_vacuous(expected));
  const auto whole = DeviceBuffer<T>::from_host(elements<T>(values), this->stream_);
  for (const Variant variant : kVariants) {
    const auto parts = this->split(variant, elements<T>(values), p);
    const Observed ours = observe(this->concat(variant, parts, p));
    EXPECT_TRUE(verdict(compare(ours, expected), this->context(Op::concat, variant, "random", p)));
    for (const std::string_view vendor : vendors) {
      std::vector<DeviceBuffer<T>> theirs;
      std::vector<void*> pointers;
      for (const auto& part : parts) {
        theirs.emplace_back(part.size());
        pointers.push_back(theirs.back().data());
      }
      vendor::split(vendor, this->kDtype, whole.data(), pointers, shape, this->stream_);
      for (std::size_t i = 0; i < parts.size(); ++i)
        EXPECT_TRUE(same_bits("split by " + std::string(vendor), parts[i],
                              theirs[i].to_host(this->stream_)));
      const DeviceBuffer<T> y(values.size());
      vendor::concat(vendor, this->kDtype,
                     std::vector<const void*>(pointers.begin(), pointers.end()), y.data(), shape,
                     this->stream_);
      EXPECT_TRUE(
          verdict(compare_with_vendor(ours, observe(y.to_host(this->stream_)), expected),
                  this->context(Op::concat, variant, "random beside " + std::string(vendor), p)));
    }
  }
}

TYPED_TEST(Concat, SameBitsEveryTime) {
  const Problem p{7, {3, 0, 12}, 11};
  const auto whole = elements_of_bits<TypeParam>(unique_bits(this->kDtype, p.size()));
  for (const Variant variant : kVariants) {
    static_assert(concat::deterministic(Variant::automatic));
    EXPECT_TRUE(same_bits_every_time(this->id(variant), [&] {
      return this->concat(variant, this->split(variant, whole, p), p);
    }));
  }
}

// On a stream whose earlier work still writes a part.
TYPED_TEST(Concat, WaitsForItsStream) {
  using T = TypeParam;
  const Problem p{3, {500}, 2};
  const auto x = elements_of_bits<T>(unique_bits(this->kDtype, p.size()));
  for (const Variant variant : kVariants) {
    const DeviceBuffer<T> y(x.size());
    const LateInput<T> late(x, this->stream_);
    const void* part = late.data();
    concat::run_concat({&part, 1}, y.data(), p.view(), sizeof(T), variant, this->stream_);
    EXPECT_TRUE(same_bits("behind a slow kernel", y.to_host(this->stream_), x));
  }
}

TYPED_TEST(Concat, RefusesWrongArguments) {
  const DeviceBuffer<TypeParam> memory(64);
  const std::vector<const void*> parts = {memory.data(), memory.data() + 8};
  const std::vector<void*> targets = {memory.data(), memory.data() + 8};
  TypeParam* const whole = memory.data() + 32;
  const auto run = [&](std::span<const void* const> from, void* to, const Problem& p,
                       std::size_t bytes) {
    EXPECT_THROW(concat::run_concat(from, to, p.view(), bytes, Variant::automatic, this->stream_),
                 Error);
  };
  constexpr std::size_t kBytes = sizeof(TypeParam);
  LaunchRecorder recorder;
  run(parts, whole, {-1, {1, 2}, 2}, kBytes);
  run(parts, whole, {2, {1, 2}, -2}, kBytes);
  run(parts, whole, {2, {1, -2}, 2}, kBytes);
  run(parts, whole, {2, {1, 2, 3}, 2}, kBytes);
  run(parts, nullptr, {2, {1, 2}, 2}, kBytes);
  run(std::vector<const void*>{memory.data(), nullptr}, whole, {2, {1, 2}, 2}, kBytes);
  run(parts, whole, {1, {1, 2}, 2}, 3);
  run(parts, memory.data() + 3, {2, {1, 2}, 2}, kBytes); // the end of the first part
  run(parts, memory.data() + 15, {2, {1, 2}, 2}, kBytes);
  EXPECT_THROW(concat::run_split(nullptr, targets, Problem{2, {1, 2}, 2}.view(), kBytes,
                                 Variant::automatic, this->stream_),
               Error);
  EXPECT_TRUE(recorder.launches().empty());
}

TYPED_TEST(Concat, AutomaticReportsWhatRan) {
  const Problem p{2, {1, 2}, 2};
  const auto whole = DeviceBuffer<TypeParam>::from_host(std::vector<TypeParam>(12), this->stream_);
  const DeviceBuffer<TypeParam> memory(12);
  const std::vector<void*> parts = {memory.data(), memory.data() + 4};
  const Variant ran = concat::run_split(whole.data(), parts, p.view(), sizeof(TypeParam),
                                        Variant::automatic, this->stream_);
  EXPECT_EQ(ran, Variant::vectorized);
}

TYPED_TEST(Concat, WorkIsOneReadAndOneWrite) {
  const Work work = concat::work(this->kDtype, Problem{10, {1, 4}, 20}.view());
  EXPECT_EQ(work.bytes, 2000.0 * sizeof(TypeParam));
  EXPECT_EQ(work.flops, 0.0);
}

} // namespace
} // namespace kg::test
