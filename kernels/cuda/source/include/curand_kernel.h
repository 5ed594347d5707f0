// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// XORWOW and Philox4x32-10. Other generators are unknown to the compiler, which says so.
#pragma once

#include <curand.h>

#include "cuda/source/curand/device.h"
