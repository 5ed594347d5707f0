// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole runtime: what tests, timers and vendor wrappers need of a device, without device code.
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
