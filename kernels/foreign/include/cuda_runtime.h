// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's header of this name, for foreign sources on the host backend. nvcc gives every source the
// runtime API, the keywords and the mathematical functions; so does this.
#pragma once

#include "foreign/api.h"
#include "foreign/graph.h"
#include "foreign/heap.h"
#include "foreign/launch.h"
#include "foreign/rounding.h"
#include "foreign/texture.h"
#include "foreign/unsupported.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>
