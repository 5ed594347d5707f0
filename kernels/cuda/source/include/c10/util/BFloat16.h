// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's header of this name: what launchers of kernels use of it.
#pragma once

#include "cuda/source/torch/extension.h"
