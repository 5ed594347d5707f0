// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// data[i] becomes the sum of the block of 64 values that it lies in; count: a multiple of the
// block.
void sums_of_blocks(float* data, int count);
