// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's header of this name: its part of what cuda_runtime.h brings.
#pragma once

#include <cuda_runtime.h>
