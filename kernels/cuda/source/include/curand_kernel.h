// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides XORWOW and Philox4x32-10. A source that uses another generator does not compile.
#pragma once

#include <curand.h>

#include "cuda/source/curand/device.h"
