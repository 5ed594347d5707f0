// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Row-wise softmax of a row-major rows x columns matrix in host memory, then multiplied by `scale`.
// False if a CUDA call failed; the error is printed.
bool softmax(const float* in, float* out, int rows, int columns, float scale);
