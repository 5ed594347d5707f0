// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/im2col_tensor.h"

#include <fmt/format.h>

namespace kg {
namespace {

constexpr std::uint32_t kMostChannels = 256;
constexpr std::uint32_t kMostPixels = 1024;
constexpr unsigned kCornerBits[] = {16, 8, 5}; // of ranks 3 to 5

} // namespace

void validate(const Im2colTensor& t, Location where) {
  const auto demand = [&](bool ok, const std::string& what) {
    if (!ok) fail("im2col tensor map: " + what, where);
  };
  const unsigned rank = t.image.rank;
  demand(rank >= 3 && rank <= kMaxTensorRank,
         fmt::format("rank {}; it is 3 to {}", rank, kMaxTensorRank));
  demand(t.image.box[0] >= 1 && t.image.box[0] <= kMostChannels,
         fmt::format("{} channels a pixel; they are 1 to {}", t.image.box[0], kMostChannels));
  demand(t.pixels >= 1 && t.pixels <= kMostPixels,
         fmt::format("{} pixels a column; they are 1 to {}", t.pixels, kMostPixels));
  for (unsigned i = 1; i < rank; ++i)
    demand(t.image.box[i] == 1,
           fmt::format("box {} along dimension {}; set it to 1", t.image.box[i], i));
  validate(t.image, where);
  demand(t.image.element_stride[rank - 1] == 1,
         fmt::format("element stride {} of dimension {}, the images; only 1 is executed",
                     t.image.element_stride[rank - 1], rank - 1));
  const int end = 1 << (kCornerBits[rank - 3] - 1);
  for (unsigned axis = 0; axis < t.axes(); ++axis) {
    for (const int corner : {t.lower[axis], t.upper[axis]})
      demand(corner >= -end && corner < end,
             fmt::format("corner {} along dimension {}; with rank {} it is {} to {}", corner,
                         axis + 1, rank, -end, end - 1));
    demand(t.last(axis) >= t.lower[axis],
           fmt::format("the bounding box reaches from {} to {} along dimension {}; it must hold a "
                       "pixel",
                       t.lower[axis], t.last(axis), axis + 1));
  }
}

} // namespace kg
