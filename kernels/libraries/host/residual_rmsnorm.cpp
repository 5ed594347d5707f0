// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// None, for the reason that libraries/host/rmsnorm.cpp gives.
#include "libraries/residual_rmsnorm.h"

namespace kg::vendor {

const Table<ResidualRmsnormVariant> residual_rmsnorm_table = {};

} // namespace kg::vendor
