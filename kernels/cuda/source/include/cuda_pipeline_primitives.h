// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's header of this name: the host backend's own.
#pragma once

#include "runtime/device_code.h"
