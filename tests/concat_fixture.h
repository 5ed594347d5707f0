// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How concat_test.cu runs and judges one set of parts, in both directions.
#pragma once

#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_layout.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/vacuity.h"

#include "concat/concat.h"

namespace kg::test {

using concat::kOps;
using concat::kVariants;
using concat::Op;
using concat::Variant;

struct Problem {
  std::int64_t outer;
  std::vector<std::int64_t> extents;
  std::int64_t inner;

  std::int64_t extent() const {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{0});
  }
  std::int64_t size() const { return outer * extent() * inner; }
  concat::Problem view() const { return {outer, inner, extents}; }
};

// Elements between the start of each storage, which is aligned to 256 bytes, and the tensor.
struct Offsets {
  std::int64_t parts = 0;
  std::int64_t whole = 0;
};

template <typename T>
class Concat : public testing::Test {
 protected:
  static constexpr Dtype kDtype = DtypeOf<T>::value;
  static constexpr std::int64_t kPack = 16 / static_cast<std::int64_t>(sizeof(T));
  using Parts = std::vector<std::vector<T>>;

  void SetUp() override {
    this->RecordProperty("backend", std::string(name(backend)));
    require_evidence("concat", kDtype, kVariants, moving_evidence(kDtype));
  }

  static VariantId id(Variant variant) {
    return {"concat", std::string(name(kDtype)), std::string(concat::name(variant))};
  }

  static CaseContext context(Op op, Variant variant, std::string fill, const Problem& p) {
    return {CaseId("concat." + std::string(name(kDtype)) + "." + std::string(concat::name(op)) +
                   "_outer" + std::to_string(p.outer) + "_parts" +
                   std::to_string(p.extents.size()) + "_inner" + std::to_string(p.inner)),
            std::string(concat::name(variant)),
            std::move(fill),
            {p.outer, p.extent() * p.inner},
            {}};
  }

  static std::vector<T> stored(const std::vector<T>& values, std::int64_t offset) {
    return scatter(values, contiguous({static_cast<std::int64_t>(values.size())}, offset));
  }

  DeviceBuffer<T> output(std::int64_t size, std::int64_t offset) {
    constexpr std::int64_t kBehind = 5;
    return DeviceBuffer<T>(offset + size + kBehind);
  }

  void judge_launches(const LaunchRecorder& recorder, Variant variant, Variant ran,
                      const Problem& p) {
    EXPECT_EQ(ran, variant);
    std::size_t parts = 0;
    for (const std::int64_t extent : p.extents) parts += p.outer * extent * p.inner > 0 ? 1u : 0u;
    EXPECT_EQ(recorder.launches().size(),
              (parts + concat::kPartsPerLaunch - 1) / concat::kPartsPerLaunch);
    for (const LaunchRecord& launch : recorder.launches())
      EXPECT_NE(launch.kernel_name.find("concat::" + std::string(concat::name(variant))),
                std::string::npos)
          << launch.kernel_name;
  }

  // Ours, with everything checked but the values.
  std::vector<T> concat(Variant variant, const Parts& parts, const Problem& p,
                        Offsets offsets = {}) {
    std::vector<std::vector<T>> stored_parts;
    std::vector<DeviceBuffer<T>> device_parts;
    std::vector<const void*> pointers;
    for (const auto& part : parts) {
      stored_parts.push_back(stored(part, offsets.parts));
      device_parts.push_back(device_input(stored_parts.back(), offsets.parts, stream_));
      pointers.push_back(device_parts.back().data() + offsets.parts);
    }
    const DeviceBuffer<T> whole = output(p.size(), offsets.whole);
    Hygiene hygiene(id(variant));
    for (std::size_t i = 0; i < parts.size(); ++i)
      hygiene.input("part " + std::to_string(i), stored_parts[i], device_parts[i], stream_);
    LaunchRecorder recorder;
    const Variant ran = concat::run_concat(pointers, whole.data() + offsets.whole, p.view(),
                                           sizeof(T), variant, stream_);
    stream_.synchronize();
    judge_launches(recorder, variant, ran, p);
    return hygiene.output(whole, contiguous({p.size()}, offsets.whole), stream_);
  }

  Parts split(Variant variant, const std::vector<T>& whole, const Problem& p,
              Offsets offsets = {}) {
    const std::vector<T> stored_whole = stored(whole, offsets.whole);
    const auto device_whole = device_input(stored_whole, offsets.whole, stream_);
    std::vector<DeviceBuffer<T>> device_parts;
    std::vector<void*> pointers;
    for (const std::int64_t extent : p.extents) {
      device_parts.push_back(output(p.outer * extent * p.inner, offsets.parts));
      pointers.push_back(device_parts.back().data() + offsets.parts);
    }
    Hygiene hygiene(id(variant));
    hygiene.input("whole", stored_whole, device_whole, stream_);
    LaunchRecorder recorder;
    const Variant ran = concat::run_split(device_whole.data() + offsets.whole, pointers, p.view(),
                                          sizeof(T), variant, stream_);
    stream_.synchronize();
    judge_launches(recorder, variant, ran, p);
    Parts result;
    for (std::size_t i = 0; i < device_parts.size(); ++i)
      result.push_back(hygiene.output(
          device_parts[i], contiguous({p.outer * p.extents[i] * p.inner}, offsets.parts), stream_));
    return result;
  }

  // Parts of `values`, which are dealt out to them in turn.
  static std::vector<std::vector<std::uint64_t>> deal(const std::vector<std::uint64_t>& values,
                                                      const Problem& p) {
    std::vector<std::vector<std::uint64_t>> parts;
    auto from = values.begin();
    for (const std::int64_t extent : p.extents) {
      const auto to = from + p.outer * extent * p.inner;
      parts.emplace_back(from, to);
      from = to;
    }
    return parts;
  }

  static Parts elements_of_parts(const std::vector<std::vector<std::uint64_t>>& parts) {
    Parts result;
    for (const auto& part : parts) result.push_back(elements_of_bits<T>(part));
    return result;
  }

  // All variants and directions on bit patterns of all kinds.
  void check(const Problem& p, Offsets offsets = {}) {
    const auto parts = deal(unique_bits(kDtype, p.size()), p);
    const auto whole = concat_oracle(parts, p.extents, p.outer, p.inner);
    const std::vector<std::int64_t> shape = {p.outer, p.extent() * p.inner};
    EXPECT_TRUE(not_vacuous_bits(kDtype, shape, whole,
                                 whole.size() == 1 ? Degenerate::zero : Degenerate::no));
    for (const Variant variant : kVariants) {
      const Observed y = observe(concat(variant, elements_of_parts(parts), p, offsets));
      EXPECT_TRUE(
          verdict(compare_bits(y, shape, whole), context(Op::concat, variant, "unique_bits", p)));
      const Parts back = split(variant, elements_of_bits<T>(whole), p, offsets);
      for (std::size_t i = 0; i < parts.size(); ++i)
        EXPECT_TRUE(
            verdict(compare_bits(observe(back[i]), {p.outer, p.extents[i] * p.inner}, parts[i]),
                    context(Op::split, variant, "unique_bits", p)));
    }
  }

  Stream stream_;
};

} // namespace kg::test
