// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches of images that bulk copies read as the rows of a convolution's matrix (PTX ISA,
// "Tensors: Im2col mode"; instructions/cp_async_bulk_im2col.h), and their tensor maps (CUDA driver
// API, cuTensorMapEncodeIm2col).
#pragma once

#include "runtime/tiled_tensor.h"

namespace kg {

// A tensor N(D(H))WC of rank 3 to 5, C contiguous, whose copies move columns of pixels. The first
// pixel of a convolution's window walks the bounding box in the order W, H, D, N, in steps of the
// element strides. Along each of W, H, D the box reaches from `lower` to extent - 1 + `upper`.
//
// For a convolution: lower = -padding, upper = padding - dilation * (filter - 1), element strides =
// the convolution's strides, and offsets = dilation * tap.
struct Im2colTensor {
  // The dimensions are C, W, H, D, N. box[0]: channels of a pixel that a copy moves, 1 to 256. All
  // other extents of the box are 1. Element strides apply to W, H and D.
  TiledTensor image;
  std::array<int, 3> lower{}, upper{}; // of W, H, D; rank 3: 16 bits, 4: 8 bits, 5: 5 bits
  std::uint32_t pixels = 1;            // that a copy moves, 1 to 1024

  unsigned axes() const { return image.rank - 2; } // of W, H, D
  // The last place of the bounding box along W, H or D.
  std::int64_t last(unsigned axis) const {
    return static_cast<std::int64_t>(image.extent[axis + 1]) - 1 + upper[axis];
  }
  std::size_t column_bytes() const { return pixels * image.box_bytes(); } // in shared memory
};

// Throws Error with argument, value and fix if cuTensorMapEncodeIm2col would reject the tensor, or
// has an element stride of N other than 1, which is not executed.
void validate(const Im2colTensor& tensor, Location where = Location::here());

// The map of a valid tensor, for the current device. Throws Error like validate, and if the driver
// does not support tensor maps.
TensorMap encode(const Im2colTensor& tensor, Location where = Location::here());

} // namespace kg
