// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of attention's wgmma, for attention_test.cu: where it runs, what it leaves to flash, and
// blocks that process several tiles.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/attention.h"
#include "ops/attention/wgmma_tiles.h"
#include "runtime/device.h"
#include "runtime/hopper_device.h"
#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/problems.h"

namespace kg::card {
namespace {

// Rows that are not 16-byte aligned cannot be described by a tensor map, nor can ragged sequences
// of an unknown total.
KG_OWN_TEST(AutomaticTakesWgmmaWhereTensorMapsFit) {
  if (judge.dtype() == Dtype::f32) return;
  dispatch(judge.dtype(), [&]<class T>() {
    using attention::Variant;
    using Asked = attention::Problem<T>;
    constexpr std::int64_t kRow = 72; // elements: depth 64, and a gap
    constexpr std::size_t kCount = 2 * 70 * kRow + 8;
    Stream stream;
    const std::vector<T> zeros(kCount, from_float<T>(0));
    const auto q = DeviceBuffer<T>::from_host(zeros, stream);
    const auto k = DeviceBuffer<T>::from_host(zeros, stream);
    const auto v = DeviceBuffer<T>::from_host(zeros, stream);
    const DeviceBuffer<T> out(kCount);
    const attention::Strides strides{140 * kRow, 70 * kRow, kRow};
    const Asked fitted{.batch = 1,
                       .heads = 2,
                       .kv_heads = 2,
                       .queries = 70,
                       .keys = 70,
                       .depth = 64,
                       .value_depth = 64,
                       .q = q.data(),
                       .q_stride = strides,
                       .k = k.data(),
                       .k_stride = strides,
                       .v = v.data(),
                       .v_stride = strides,
                       .out = out.data(),
                       .out_stride = strides};
    const auto expect = [&](const char* what, auto change, bool fits) {
      Asked p = fitted;
      change(p);
      const Variant right = fits ? Variant::wgmma : Variant::flash;
      EXPECT_EQ(name(attention::resolved(Variant::automatic, p)), name(right)) << what;
      if (p.query_offsets != nullptr) return; // offsets without memory
      const LaunchRecorder recorder;
      attention::run(p, Variant::wgmma, stream);
      stream.synchronize();
      const std::string& kernel = recorder.launches().at(0).kernel_name;
      EXPECT_NE(kernel.find("attention::" + std::string(name(right)) + "<"), std::string::npos)
          << what << ": " << kernel;
    };
    const auto as_it_is = [](Asked&) {};
    if (backend == Backend::host && device_properties().compute_major != 9) {
      EXPECT_FALSE(attention::supports<T>(Variant::wgmma, 64, 64));
      EXPECT_EQ(attention::resolved(Variant::automatic, fitted), Variant::flash) << "on an 8.0";
    }
    const HopperDevice device;
    if (!attention::supports<T>(Variant::wgmma, 64, 64)) return; // another GPU
    expect("rows with gaps", as_it_is, true);
    expect(
        "no keys", [](Asked& p) { p.keys = 0; }, true);
    expect(
        "q at an odd address", [](Asked& p) { p.q += 1; }, false);
    expect(
        "a bias",
        [&](Asked& p) {
          p.bias = k.data(), p.bias_stride = {0, 4900, 70};
        },
        false);
    expect(
        "k at an odd address", [](Asked& p) { p.k += 1; }, false);
    expect(
        "v at an odd address", [](Asked& p) { p.v += 1; }, false);
    expect(
        "out at an odd address", [](Asked& p) { p.out += 1; }, false);
    expect(
        "tokens of k", [](Asked& p) { p.k_stride.token = kRow - 4; }, false);
    expect(
        "heads of v", [](Asked& p) { p.v_stride.head -= 4; }, false);
    expect(
        "all heads share k", [](Asked& p) { p.k_stride.head = 0; }, false);
    expect(
        "one head of k", [](Asked& p) { p.kv_heads = 1, p.k_stride.head = 0; }, true);

    const std::int32_t offsets[2] = {0, 70};
    const auto ragged = [&](std::int64_t total_queries, std::int64_t total_keys) {
      return [=, &offsets](Asked& p) {
        p.query_offsets = p.key_offsets = offsets;
        p.q_stride.sequence = p.k_stride.sequence = p.v_stride.sequence = p.out_stride.sequence = 0;
        p.total_queries = total_queries, p.total_keys = total_keys;
      };
    };
    expect("ragged", ragged(70, 70), true);
    expect("ragged, of unknown queries", ragged(0, 70), false);
    expect("ragged, of unknown keys", ragged(70, 0), false);
    Asked few = fitted;
    few.queries = 64;
    EXPECT_EQ(attention::resolved(Variant::automatic, few), Variant::flash) << "64 queries";
  });
}

// Persistent blocks with several tiles each: pipelines continue from tile to tile, whatever stage
// and phase a tile's keys ended at. Sequences without queries in a tile, and queries without keys,
// leave tiles out or empty.
KG_OWN_TEST(TilesFollowEachOther) {
  if (judge.dtype() == Dtype::f32) return;
  const std::string count = std::to_string(device_properties().sm_count + 1);
  for (const auto& [axis, rest] :
       std::vector<std::pair<std::string, std::string>>{{"b1_h", "_kv1_q200_k300_d64_causal"},
                                                        {"b1_h", "_q130_k150_d72_causal_window40"},
                                                        {"b1_h", "_q30_k300_d192_v128"},
                                                        {"b1_h", "_q70_k200_d136_causal"},
                                                        {"b1_h", "_q140_k60_d256_causal"},
                                                        {"b", "_h1_q200_k160_d128_ragged_causal"},
                                                        {"b", "_h1_q50_k140_d64_lengths"},
                                                        {"b1_h", "_q400_k20_d64_bshd_causal"}}) {
    const std::string shape = axis + count + rest;
    judge.check({.fill = "normal",
                 .shape = shape,
                 .degenerate = test::Degenerate::sparse,
                 .may_be_vacuous = true,
                 .vacuous_outputs = {"log_sum"}},
                {}, {"wgmma"});
  }
}

// Each tile of each head once, sections one after the other, the last queries first.
KG_OWN_TEST(SectionsOfHeadsHoldAllTiles) {
  if (judge.dtype() != Dtype::f16) return; // as the other types
  for (const unsigned heads : {1, 5, 12})
    for (const unsigned tiles : {1, 3})
      for (const unsigned section : {1, 4, 12}) {
        const attention::TileOrder order{heads, tiles, section};
        std::set<std::pair<int, int>> seen;
        int last_section = 0, last_tile = 0;
        for (unsigned number = 0; number < order.count(); ++number) {
          const auto [head, tile] = order.place(number);
          EXPECT_TRUE(seen.insert({head, tile}).second) << head << ", " << tile;
          const int own = head / static_cast<int>(section);
          EXPECT_TRUE(number == 0 || own > last_section ||
                      (own == last_section && tile <= last_tile))
              << number;
          last_section = own, last_tile = tile;
        }
        EXPECT_EQ(seen.size(), std::size_t{heads} * tiles);
        EXPECT_LT(seen.rbegin()->first, static_cast<int>(heads));
      }
}

} // namespace
} // namespace kg::card
