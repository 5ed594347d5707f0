// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant jit: the kernel's source, compiled at run time for one geometry. jit.cu defines
// the macros KG_... as constants, so that loops over taps are unrolled and index arithmetic is
// folded.
#include "runtime/device_code.h"

using Element = KG_ELEMENT;
using Index = KG_INDEX; // in elements

constexpr bool kChannelsLast = KG_CHANNELS_LAST;
constexpr int kHeight = KG_HEIGHT, kWidth = KG_WIDTH;
constexpr int kOutHeight = KG_OUT_HEIGHT, kOutWidth = KG_OUT_WIDTH;
constexpr int kInChannels = KG_IN_CHANNELS, kOutChannels = KG_OUT_CHANNELS;
constexpr int kGroupInputs = KG_GROUP_INPUTS, kGroupOutputs = KG_GROUP_OUTPUTS;
constexpr int kKernelHeight = KG_KERNEL_HEIGHT, kKernelWidth = KG_KERNEL_WIDTH;
constexpr int kStrideDown = KG_STRIDE_DOWN, kStrideAcross = KG_STRIDE_ACROSS;
constexpr int kPadTop = KG_PAD_TOP, kPadLeft = KG_PAD_LEFT;
constexpr int kDilationDown = KG_DILATION_DOWN, kDilationAcross = KG_DILATION_ACROSS;

constexpr int kThreads = KG_THREADS;
constexpr int kPlaces = KG_PLACES;          // positions of y per thread, kThreads apart
constexpr int kOutputs = KG_OUTPUTS;        // output channels per position
constexpr int kStagedRows = KG_STAGED_ROWS; // kernel rows of weights in shared memory at a time
constexpr int kBlocksPerGroup = (kGroupOutputs + kOutputs - 1) / kOutputs;
constexpr int kChannelBlocks = kInChannels / kGroupInputs * kBlocksPerGroup;

// Strides in elements.
constexpr Index kColumnStep = kChannelsLast ? kInChannels : 1;
constexpr Index kRowStep = kColumnStep * kWidth;
constexpr Index kChannelStep = kChannelsLast ? 1 : Index{kHeight} * kWidth;
constexpr int kTaps = kKernelHeight * kKernelWidth;
constexpr Index kDepth = Index{kTaps} * kGroupInputs;
constexpr Index kWeightTapStep = kChannelsLast ? kGroupInputs : 1;
constexpr Index kWeightChannelStep = kChannelsLast ? 1 : kTaps;

// The weights of one tap and input channel.
struct alignas(kOutputs * sizeof(float) < 16 ? kOutputs * sizeof(float) : 16) Weights {
  float of[kOutputs];
};

// A position of y.
struct Place {
  Index image;   // first element of the group in this image of x
  int top, left; // of the window in x
  Index output;  // offset in y of the thread's first channel
  bool exists;
};

// places: positions of y in all images; only the batch is not a compile-time constant.
extern "C" __global__ void __launch_bounds__(kThreads)
    conv2d_jit(const Element* x, const Element* weights, const Element* bias, Element* y,
               unsigned places) {
  Weights* const staged = kg::dynamic_shared<Weights>();
  const int channel_block = static_cast<int>(blockIdx.x % kChannelBlocks);
  const int group = channel_block / kBlocksPerGroup;
  const int first = channel_block % kBlocksPerGroup * kOutputs; // channel within the group
  const int channel = group * kGroupOutputs + first;            // channel of y

  Place at[kPlaces];
  KG_UNROLL
  for (int p = 0; p < kPlaces; ++p) {
    const unsigned index = (blockIdx.x / kChannelBlocks * kPlaces + p) * kThreads + threadIdx.x;
    const Index image = index / (kOutHeight * kOutWidth);
    const int row = static_cast<int>(index / kOutWidth % kOutHeight);
    const int column = static_cast<int>(index % kOutWidth);
    at[p].exists = index < places;
    at[p].image = image * kInChannels * kHeight * kWidth + group * kGroupInputs * kChannelStep;
    at[p].top = row * kStrideDown - kPadTop;
    at[p].left = column * kStrideAcross - kPadLeft;
    at[p].output = kChannelsLast
                       ? static_cast<Index>(index) * kOutChannels + channel
                       : ((image * kOutChannels + channel) * kOutHeight + row) * kOutWidth + column;
  }

  float sum[kPlaces][kOutputs] = {};
  for (int begin = 0; begin < kKernelHeight; begin += kStagedRows) {
    if (begin > 0) __syncthreads(); // previous rows are no longer in use
    constexpr int kStaged = kStagedRows * kKernelWidth * kGroupInputs;
    for (int k = static_cast<int>(threadIdx.x); k < kStaged; k += kThreads) {
      const int tap = begin * kKernelWidth + k / kGroupInputs;
      const Index from = tap * kWeightTapStep + k % kGroupInputs * kWeightChannelStep;
      KG_UNROLL
      for (int o = 0; o < kOutputs; ++o) {
        const bool exists = tap < kTaps && first + o < kGroupOutputs;
        staged[k].of[o] = exists ? kg::to_float(weights[(channel + o) * kDepth + from]) : 0.0f;
      }
    }
    __syncthreads();

    const int end = begin + kStagedRows < kKernelHeight ? begin + kStagedRows : kKernelHeight;
    for (int i = begin; i < end; ++i) {
      KG_UNROLL
      for (int j = 0; j < kKernelWidth; ++j) {
        // Padding adds nothing, not 0 times a weight.
        bool inside[kPlaces];
        Index from[kPlaces];
        KG_UNROLL
        for (int p = 0; p < kPlaces; ++p) {
          const int row = at[p].top + i * kDilationDown;
          const int column = at[p].left + j * kDilationAcross;
          inside[p] = at[p].exists && row >= 0 && row < kHeight && column >= 0 && column < kWidth;
          from[p] = at[p].image + row * kRowStep + column * kColumnStep;
        }
        const Weights* const tap = staged + ((i - begin) * kKernelWidth + j) * kGroupInputs;
        for (int c = 0; c < kGroupInputs; ++c) {
          const Weights weight = tap[c];
          KG_UNROLL
          for (int p = 0; p < kPlaces; ++p) {
            if (!inside[p]) continue;
            const float value = kg::to_float(x[from[p] + c * kChannelStep]);
            KG_UNROLL
            for (int o = 0; o < kOutputs; ++o) sum[p][o] = fmaf(value, weight.of[o], sum[p][o]);
          }
        }
      }
    }
  }

  KG_UNROLL
  for (int p = 0; p < kPlaces; ++p) {
    KG_UNROLL
    for (int o = 0; o < kOutputs; ++o) {
      if (!at[p].exists || first + o >= kGroupOutputs) continue;
      const float result =
          bias == nullptr ? sum[p][o] : sum[p][o] + kg::to_float(bias[channel + o]);
      constexpr Index kStep = kChannelsLast ? 1 : Index{kOutHeight} * kOutWidth;
      y[at[p].output + o * kStep] = kg::from_float<Element>(result);
    }
  }
}
