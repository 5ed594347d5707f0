// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code on the host backend: everything that a kernel may use, in plain C++.
#pragma once

#include "runtime/host/atomics.h"
#include "runtime/host/bfloat16.h"
#include "runtime/host/block.h"
#include "runtime/host/half.h"
#include "runtime/host/intrinsics_math.h"
#include "runtime/host/synchronize.h"
#include "runtime/host/vector_types.h"
#include "runtime/host/warp.h"

#include "runtime/host/mbarrier.h"
#include "runtime/host/pipeline.h"

// Must be last: from here on the keywords are macros.
#include "runtime/host/keywords.h"

#include <cassert>
#include <cmath>
#include <cstdio>
