// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name, with the emulator's implementation.
#pragma once

#include "cuda/source/block_tiles.h"
