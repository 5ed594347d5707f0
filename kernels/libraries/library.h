// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The same operations by established libraries: cuBLAS, cuDNN, Thrust and CUB on cuda; OpenBLAS,
// oneDNN and Thrust's host back end on host. Plain C++: pointers are device pointers (host pointers
// on the host backend), and Dtype names the element type. So the libraries' headers and device
// vector types cannot conflict.
//
// Streams: on cuda every function enqueues on `stream`, except Thrust's reductions. They wait for
// the stream, because Thrust returns their results to the caller. Before a call is captured into a
// graph, make the same call once on the same thread and stream: the first call creates the
// library's handle and workspace. On the host the libraries run immediately, and a capturing stream
// does not record them.
//
// Threads on the host: each library's default, one per CPU that it may use (OPENBLAS_NUM_THREADS,
// OMP_NUM_THREADS and the like are obeyed).
//
// Each operation has a header here, <op>.h, with the call and the table of this backend's variants.
// `names` (variants.h) lists the variants of a problem and needs no device. If the list is empty,
// no library implements the problem, and only the oracle remains. Arguments are those of the
// operation's own header. Inputs and outputs must not overlap.
//
// Errors: every function throws Error. The message names an argument that is out of range, lists
// the variants for the type if none has the given name, or quotes the library if it refuses.
#pragma once

#include <string>
#include <vector>

namespace kg::vendor {

// A library that this build links, and its version at run time (Thrust and CUB: at compile time).
// Needs no device.
struct Library {
  std::string name; // "cublas", "cudnn", "thrust", "cub", "openblas", "onednn"
  std::string version;
};
std::vector<Library> libraries();

// The library's arithmetic. `pedantic` is for correctness tests: true f32, no TF32, and a fixed
// order where there is a choice. `fastest` is the library's best mode of the same precision, the
// reference for performance.
enum class Math { pedantic, fastest };

} // namespace kg::vendor
