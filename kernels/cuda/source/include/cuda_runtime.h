// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name on the emulator. Like nvcc, it gives every source the
// runtime API, the CUDA keywords and the math functions.
#pragma once

#include "cuda/source/api.h"
#include "cuda/source/graph.h"
#include "cuda/source/heap.h"
#include "cuda/source/launch.h"
#include "cuda/source/rounding.h"
#include "cuda/source/texture.h"
#include "cuda/source/unsupported.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>

// Set by nvcc -default-stream per-thread, or defined by the source as the CUDA guide describes.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static const bool kg_per_thread_default = ::kg::foreign::use_per_thread_default_stream();
#endif
