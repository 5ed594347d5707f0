// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Only the handle of cuBLASLt (link kernelgrade::cublas): its GEMMs do not run on the emulator.
#pragma once

#include <cublas_v2.h>

using cublasLtHandle_t = struct cublasLtContext*;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
