// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Of cuBLASLt the handle alone (link kernelgrade::cublas): its products do not run on the host
// backend.
#pragma once

#include <cublas_v2.h>

using cublasLtHandle_t = struct cublasLtContext*;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
