// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's header of this name: nvcuda::wmma, over the matrix instructions of the executor.
#pragma once

#include "cuda/source/wmma.h"
