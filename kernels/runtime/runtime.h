// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole runtime without device code, for tests, timers and vendor wrappers.
#pragma once

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"
