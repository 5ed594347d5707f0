// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel that a variant of masked_softmax runs.
#pragma once

#include "primitives/block.h"
#include "primitives/pipeline_config.h"
#include "runtime/device.h"
#include "tests/contract/card.h"
#include "tests/ops/masked_softmax/masks.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kg::card {

// One maximum and one sum per warp.
inline constexpr std::int64_t kScratchBytes = 2 * kMaxWarps * 4;

// Packs if every row, including the mask's, is aligned. Derived independently, so that the test can
// compare the kernel that runs.
inline std::vector<std::string>
masked_softmax_kernel(std::string_view variant, const Problem& problem, const Layout& layout) {
  if (variant == "naive") return {"masked_softmax::naive<"};
  const std::string pack =
      ", " +
      std::to_string(rows_are_aligned(problem, layout) ? elements_per_pack(problem.dtype) : 1);
  if (variant == "warp") return {"masked_softmax::warp_per_row<", pack + ", "};
  const std::int64_t rows = rows_of(problem), cols = cols_of(problem);
  if (rows_are_aligned(problem, layout)) {
    // Next to each stage of x, a stage of the mask with one byte per element.
    const auto size = static_cast<std::size_t>(size_of(problem.dtype));
    const auto masks = [&](std::int64_t place) {
      return problem.parameters.as<Masked>().causal ? 0 : place / static_cast<std::int64_t>(size);
    };
    const RowPipelineShape two =
        row_pipeline_shape(rows, cols, size, kRowStages * masks(stage_bytes(cols, size)));
    const RowPipelineShape one =
        single_stage_shape(rows, cols, size, masks(single_stage_bytes(cols, size)));
    const int packs = two.is_short ? kShortRowPacks : kLongRowPacks;
    if (two.shared_bytes > 0)
      return {"masked_softmax::block_in_ring<", pack + ", " + std::to_string(packs) + ", 2>"};
    if (one.shared_bytes > 0)
      return {"masked_softmax::block_in_ring<",
              pack + ", " + std::to_string(kSingleStagePacks) + ", 1>"};
  } else if (kScratchBytes + 4 * cols <=
             static_cast<std::int64_t>(device_properties().shared_bytes_per_block_optin)) {
    return {"masked_softmax::block_in_shared<"};
  }
  return {"masked_softmax::block_two_reads<", pack + ">"};
}

} // namespace kg::card
