// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM shapes: for each of gemm's variants, and around its tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/fills.h"

namespace kg::card::gemm_samples {

using test::ProductShape;

inline constexpr const char* kTranspositions[] = {"nn", "nt", "tn", "tt"};

inline std::string shape_of(const ProductShape& s, const std::string& transposition,
                            const std::string& words = "", const std::string& batch = "") {
  return batch + "m" + std::to_string(s.m) + "_n" + std::to_string(s.n) + "_k" +
         std::to_string(s.k) + "_" + transposition + words;
}

// The same product for split_k, and in f32 with TF32.
inline std::vector<std::string> for_all_variants(Dtype dtype,
                                                 const std::vector<std::string>& shapes) {
  std::vector<std::string> all;
  for (const std::string& shape : shapes) {
    all.push_back(shape);
    all.push_back(shape + "_split");
    if (dtype == Dtype::f32) all.push_back(shape + "_tf32");
  }
  return all;
}

// The same products with wide tiles; in f32 those of tiled and, with TF32, of mma.
inline std::vector<std::string> by_wide_tiles(Dtype dtype, const std::vector<std::string>& shapes) {
  std::vector<std::string> all;
  for (const std::string& shape : shapes) {
    all.push_back(shape + "_wide");
    if (dtype == Dtype::f32) all.push_back(shape + "_tf32_wide");
  }
  return all;
}

// Adds shapes whose C suits the variant: more blocks of skinny, or tiles of split_k, would test
// nothing new. If `shrinks` is false, C keeps its size.
inline std::vector<std::string> fitted(Dtype dtype, ProductShape s,
                                       const std::string& transposition,
                                       const std::string& words = "", const std::string& batch = "",
                                       bool shrinks = true) {
  if (!shrinks) return for_all_variants(dtype, {shape_of(s, transposition, words, batch)});
  std::vector<std::string> all = {shape_of(s, transposition, words, batch)};
  if (dtype == Dtype::f32) all.push_back(all[0] + "_tf32");
  ProductShape skinny = s;
  std::int64_t& side = transposition[0] == transposition[1] ? skinny.n : skinny.m;
  side = std::min<std::int64_t>(side, 8);
  if (std::min(s.m, s.n) > 8) all.push_back(shape_of(skinny, transposition, words, batch));
  const ProductShape split{std::min<std::int64_t>(s.m, 40), std::min<std::int64_t>(s.n, 24), s.k};
  all.push_back(shape_of(split, transposition, words + "_split", batch));
  return all;
}

// Around the tiles, the slices of k, a warp and a 16-byte access.
//
// mma: tiles of 128, warps of 64, slices of 32 and accesses of 8; half of that for floats.
inline constexpr ProductShape kEdgesOfMma[] = {
    {1, 1, 300},   {1, 129, 33},   {129, 1, 32},  {2, 3, 7},     {63, 65, 31},
    {64, 64, 64},  {65, 64, 16},   {72, 104, 40}, {127, 129, 8}, {128, 128, 9},
    {3, 24, 4097}, {129, 128, 97}, {1, 257, 24}};
// Wide tiles: 128 by 256, in multiples of 8; fewer slices than pipeline stages, as many, and more.
inline constexpr ProductShape kEdgesOfWide[] = {{8, 8, 8},      {128, 256, 64}, {136, 264, 72},
                                                {72, 200, 128}, {64, 320, 136}, {200, 64, 328}};
// Wide tiles of tiled: slices of 16, the first takes the remainder of k; any length of A's rows.
inline constexpr ProductShape kEdgesOfWideTiled[] = {{4, 4, 17},   {132, 260, 31}, {64, 256, 33},
                                                     {36, 68, 48}, {100, 32, 16},  {132, 260, 44}};
// tiled: tiles of 64, slices of 16, accesses of 4.
inline constexpr ProductShape kEdgesOfTiled[] = {
    {1, 1, 1},    {1, 1, 4099}, {1, 65, 17},  {65, 1, 16},    {2, 3, 7},      {15, 17, 1},
    {31, 33, 15}, {63, 63, 16}, {64, 64, 64}, {64, 64, 17},   {65, 65, 16},   {64, 68, 65},
    {63, 65, 33}, {97, 64, 31}, {64, 97, 32}, {127, 129, 48}, {128, 128, 15}, {1, 255, 256}};
// skinny: lines of k by 4 and 32, accesses of 4 and 8, slices of 256 steps; lines along m or n by 8
// accesses, slices of 128 steps; 8 on the other side.
inline constexpr ProductShape kEdgesOfSkinny[] = {
    {1, 1, 1},    {1, 1, 1027}, {2, 3, 7},    {33, 1, 257}, {31, 8, 256},
    {7, 32, 513}, {9, 36, 130}, {5, 129, 31}, {65, 8, 128}, {3, 24, 1040}};
// split_k, in 3 parts that are multiples of 32, with one of these variants: one part, two, the last
// part with one step and with all; rows that end between 16-byte boundaries.
inline constexpr ProductShape kEdgesOfSplit[] = {{1, 1, 1},    {5, 7, 32},   {3, 66, 33},
                                                 {65, 64, 65}, {2, 129, 96}, {66, 9, 97}};

inline std::vector<std::string> edges(Dtype dtype, const std::string& transposition) {
  const bool f32 = dtype == Dtype::f32;
  std::vector<std::string> shapes;
  const auto add = [&](const auto& some, const std::string& words) {
    for (const ProductShape& s : some) shapes.push_back(shape_of(s, transposition, words));
  };
  add(kEdgesOfMma, f32 ? "_tf32" : "");
  add(kEdgesOfWide, "_wide");
  if (f32) add(kEdgesOfWide, "_tf32_wide");
  if (f32) add(kEdgesOfWideTiled, "_wide");
  if (f32) add(kEdgesOfTiled, "");
  add(kEdgesOfSkinny, "");
  add(kEdgesOfSplit, "_split");
  return shapes;
}

} // namespace kg::card::gemm_samples
