// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's header of this name, for foreign sources on the host backend. nvcc gives every source the
// runtime API, the keywords and the mathematical functions; so does this.
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

// nvcc's -default-stream per-thread, and the macro that the guide has in its place.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static const bool kg_per_thread_default = ::kg::foreign::use_per_thread_default_stream();
#endif
