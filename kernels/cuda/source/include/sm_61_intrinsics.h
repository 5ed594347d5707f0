// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the CUDA header of the same name; cuda_runtime.h provides everything that it declares.
#pragma once

#include <cuda_runtime.h>
