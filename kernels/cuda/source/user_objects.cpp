// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// User objects: what a program's graphs need, counted by references.
#include "cuda/source/graph_nodes.h"

#include <algorithm>

struct CUuserObject_st {
  void* pointer;
  cudaHostFn_t destroy;
  std::uint64_t references;
};

namespace kg::foreign {
namespace {

struct Objects {
  Handles<CUuserObject_st> live;
  std::mutex counts;
};
Objects& objects() {
  static auto& instance = *new Objects;
  return instance;
}

CUuserObject_st& object_of(cudaUserObject_t object) {
  return objects().live.get(object, "user object");
}
void demand_count(unsigned count) {
  demand(count > 0 && count <= 0x7fffffffu, cudaErrorInvalidValue,
         std::to_string(count) + " references; at least 1 and less than 2^31");
}

void retain(cudaUserObject_t object, unsigned count) {
  CUuserObject_st& counted = object_of(object);
  const std::lock_guard lock(objects().counts);
  counted.references += count;
}
void release(cudaUserObject_t object, unsigned count) {
  CUuserObject_st& counted = object_of(object);
  const CUuserObject_st last = counted;
  {
    const std::lock_guard lock(objects().counts);
    demand(counted.references >= count, cudaErrorInvalidValue,
           std::to_string(count) + " references of " + std::to_string(counted.references));
    counted.references -= count;
    if (counted.references > 0) return;
  }
  objects().live.remove(object, "user object");
  last.destroy(last.pointer);
}

UserReference reference(cudaUserObject_t object) {
  return {new cudaUserObject_t(object), [](const cudaUserObject_t* held) {
            cudaUserObjectRelease(*held);
            delete held;
          }};
}

} // namespace
} // namespace kg::foreign

using namespace kg::foreign;

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return call("cudaUserObjectCreate", [&] {
    demand(object && destroy, cudaErrorInvalidValue, "a pointer is null");
    demand_count(references);
    demand(flags == cudaUserObjectNoDestructorSync, cudaErrorInvalidValue,
           "flags are " + std::to_string(flags) + "; pass cudaUserObjectNoDestructorSync");
    *object = objects().live.add(
        std::make_unique<CUuserObject_st>(CUuserObject_st{pointer, destroy, references}));
  });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call("cudaUserObjectRetain", [&] {
    demand_count(count);
    retain(object, count);
  });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call("cudaUserObjectRelease", [&] {
    demand_count(count);
    release(object, count);
  });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return call("cudaGraphRetainUserObject", [&] {
    demand_count(count);
    demand(flags <= cudaGraphUserObjectMove, cudaErrorInvalidValue,
           "flags are " + std::to_string(flags) + "; pass 0 or cudaGraphUserObjectMove");
    CUgraph_st& holder = graphs().get(graph, "graph");
    if (flags != cudaGraphUserObjectMove)
      retain(object, count);
    else
      object_of(object);
    for (unsigned i = 0; i < count; ++i) holder.held.push_back(reference(object));
  });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return call("cudaGraphReleaseUserObject", [&] {
    demand_count(count);
    std::vector<UserReference>& held = graphs().get(graph, "graph").held;
    const auto other = std::stable_partition(held.begin(), held.end(),
                                             [&](const auto& one) { return *one != object; });
    demand(held.end() - other >= count, cudaErrorInvalidValue,
           "the graph holds " + std::to_string(held.end() - other) + " references to it");
    held.erase(held.end() - count, held.end());
  });
}
