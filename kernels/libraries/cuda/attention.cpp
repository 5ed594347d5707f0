// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention.h"

#include "libraries/cuda/cudnn_attention.h"

namespace kg::vendor {

const Table<AttentionVariant> attention_table = {
    {"cublas", "cublas", "cudnn"},
    {"cudnn", "", "", cudnn::attention_supported, cudnn::attention},
};

} // namespace kg::vendor
