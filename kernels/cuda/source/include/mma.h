// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name: nvcuda::wmma on the emulator's MMA instructions.
#pragma once

#include "cuda/source/wmma.h"
