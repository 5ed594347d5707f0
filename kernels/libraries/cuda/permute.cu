// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/permute.h"

#include "libraries/cuda/cudnn.h"
#include "libraries/cuda/thrust.h"
#include "libraries/thrust_walks.h"

#include <limits>

namespace kg::vendor {
namespace cudnn {
namespace {

// cudnnTransformTensor between two strided layouts of one tensor. It multiplies by 1, which loses
// NaN payloads. It counts in int.
bool permute_supported(Dtype dtype) { return type_of(dtype).has_value(); }

void permute(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y,
             Stream& stream) {
  constexpr int kRank = 5; // padded with leading axes of extent 1
  int extent[kRank];
  int from[kRank];
  int to[kRank];
  std::int64_t step = 1;
  for (int d = kRank - 1; d >= 0; --d) {
    const int axis = d - (kRank - static_cast<int>(axes.size()));
    const PermutedAxis each =
        axis >= 0 ? axes[static_cast<std::size_t>(axis)] : PermutedAxis{1, step};
    extent[d] = static_cast<int>(each.extent);
    from[d] = static_cast<int>(each.stride);
    to[d] = static_cast<int>(step);
    step *= each.extent;
    require(step <= std::numeric_limits<int>::max(),
            "kg::vendor::permute: cuDNN takes at most 2^31 - 1 elements; permute parts");
  }
  const TensorDescriptor source;
  const TensorDescriptor result;
  KG_CHECK(cudnnSetTensorNdDescriptor(source.get(), type_of(dtype).value(), kRank, extent, from));
  KG_CHECK(cudnnSetTensorNdDescriptor(result.get(), type_of(dtype).value(), kRank, extent, to));
  KG_CHECK(
      cudnnTransformTensor(handle_on(stream), &kOne, source.get(), x, &kZero, result.get(), y));
}

} // namespace
} // namespace cudnn

namespace thrust_cuda {
namespace {

void permute(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y,
             Stream& stream) {
  translate("gather", [&] { walks::permute(on(stream), dtype, axes, x, y); });
}

} // namespace
} // namespace thrust_cuda

const Table<PermuteVariant> permute_table = {
    {"cudnn", cudnn::permute_supported, cudnn::permute},
    {"thrust", always, thrust_cuda::permute},
};

} // namespace kg::vendor
