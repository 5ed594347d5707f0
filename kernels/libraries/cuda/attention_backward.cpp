// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention_backward.h"

#include "libraries/cuda/cudnn_attention.h"

namespace kg::vendor {

const Table<AttentionBackwardVariant> attention_backward_table = {
    {"cublas", "cublas", "cudnn"},
    {"cudnn", "", "", cudnn::attention_supported, cudnn::attention_backward},
};

} // namespace kg::vendor
