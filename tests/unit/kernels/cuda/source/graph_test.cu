// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: made of nodes, and captured from streams.
#include <gmock/gmock.h>
#include <vector>

namespace {

using testing::ElementsAre;

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void multiply(int* data, int value) { data[threadIdx.x] *= value; }

constexpr int kN = 3;

class Graphs : public testing::Test {
 protected:
  Graphs() {
    EXPECT_EQ(cudaMalloc(&data_, sizeof(int) * kN), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0, sizeof(int) * kN), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&other_), cudaSuccess);
  }
  ~Graphs() override {
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other_), cudaSuccess);
    EXPECT_EQ(cudaFree(data_), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  std::vector<int> values() const {
    std::vector<int> back(kN);
    EXPECT_EQ(cudaMemcpy(back.data(), data_, sizeof(int) * kN, cudaMemcpyDeviceToHost),
              cudaSuccess);
    return back;
  }
  cudaKernelNodeParams adding(int value) {
    value_ = value;
    arguments_[0] = &data_;
    arguments_[1] = &value_;
    cudaKernelNodeParams parameters = {0};
    parameters.func = (void*)add;
    parameters.gridDim = dim3(1, 1, 1);
    parameters.blockDim = dim3(kN, 1, 1);
    parameters.kernelParams = arguments_;
    return parameters;
  }
  void run(cudaGraph_t graph, int times = 1) {
    cudaGraphExec_t exec;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0), cudaSuccess);
    for (int i = 0; i < times; ++i) EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
  static cudaError_t failed(cudaError_t error) {
    EXPECT_EQ(cudaGetLastError(), error);
    return error;
  }

  int* data_ = nullptr;
  int value_ = 0;
  void* arguments_[2] = {};
  cudaStream_t stream_, other_;
};

TEST_F(Graphs, OfNodes) {
  cudaGraph_t graph, clone;
  cudaGraphNode_t set, kernel, copy, host, empty;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaKernelNodeParams parameters = adding(5);
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &parameters), cudaSuccess);
  value_ = 1000; // the graph has its own
  cudaMemsetParams zeros = {0};
  zeros.dst = data_;
  zeros.value = 2;
  zeros.elementSize = 4;
  zeros.width = kN;
  zeros.height = 1;
  ASSERT_EQ(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zeros), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &set, &kernel, 1), cudaSuccess); // first, though later
  int back[kN] = {}, seen = 0;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, back, data_, sizeof back,
                                     cudaMemcpyDeviceToHost),
            cudaSuccess);
  struct Look {
    int *from, *to;
  } look = {back, &seen};
  cudaHostNodeParams looking = {0};
  looking.fn = [](void* user) {
    *static_cast<Look*>(user)->to = static_cast<Look*>(user)->from[0];
  };
  looking.userData = &look;
  ASSERT_EQ(cudaGraphAddHostNode(&host, graph, &copy, 1, &looking), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph, &host, 1), cudaSuccess);
  run(graph, 2);
  EXPECT_THAT(back, ElementsAre(7, 7, 7));
  EXPECT_EQ(seen, 7);

  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
  EXPECT_EQ(count, 5u);
  cudaGraphNodeType type;
  EXPECT_EQ(cudaGraphNodeGetType(copy, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeMemcpy);
  ASSERT_EQ(cudaGraphClone(&clone, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  back[0] = 0;
  run(clone);
  EXPECT_THAT(back, ElementsAre(7, 7, 7));
  EXPECT_EQ(cudaGraphDestroy(clone), cudaSuccess);
}

TEST_F(Graphs, OfAnotherGraph) {
  cudaGraph_t graph, child;
  cudaGraphNode_t kernel, twice;
  cudaKernelNodeParams parameters = adding(1);
  ASSERT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, child, NULL, 0, &parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&twice, graph, NULL, 0, child), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&twice, graph, &twice, 1, child), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
  run(graph);
  EXPECT_THAT(values(), ElementsAre(2, 2, 2));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graphs, CapturedFromStreamsThatForkAndJoin) {
  cudaEvent_t fork, join;
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  const int start[kN] = {1, 2, 3};
  int back[kN] = {};
  cudaGraph_t graph;
  cudaStreamCaptureStatus status;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(data_, start, sizeof start, cudaMemcpyHostToDevice, stream_),
            cudaSuccess);
  add<<<1, kN, 0, stream_>>>(data_, 1);
  EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other_, fork, 0), cudaSuccess);
  multiply<<<1, kN, 0, other_>>>(data_, 10);
  EXPECT_EQ(cudaEventRecord(join, other_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(back, data_, sizeof back, cudaMemcpyDeviceToHost, stream_),
            cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(other_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(other_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_THAT(back, ElementsAre(0, 0, 0)) << "a capture runs nothing";
  run(graph);
  EXPECT_THAT(back, ElementsAre(20, 30, 40));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  multiply<<<1, kN, 0, other_>>>(data_, 0); // not captured any more
  EXPECT_THAT(values(), ElementsAre(0, 0, 0));
  EXPECT_EQ(cudaEventDestroy(fork), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(join), cudaSuccess);
}

TEST_F(Graphs, TellOfTheirCapture) {
  cudaStreamCaptureStatus status;
  unsigned long long id = 0, same = 0;
  cudaGraph_t graph = nullptr, captured;
  const cudaGraphNode_t* after;
  const cudaGraphEdgeData* edges;
  std::size_t count = 7;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, &id, &graph, &after, &edges, &count),
            cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(count, 0u);
  add<<<1, kN, 0, stream_>>>(data_, 2);
  multiply<<<1, kN, 0, stream_>>>(data_, 10);
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, &same, &graph, &after, &edges, &count),
            cudaSuccess);
  EXPECT_EQ(same, id);
  ASSERT_EQ(count, 1u);
  const cudaGraphNode_t multiplied = after[0];
  add<<<1, kN, 0, stream_>>>(data_, 3);
  ASSERT_EQ(cudaStreamEndCapture(stream_, NULL), cudaSuccess);
  cudaGraphNode_t nodes[4];
  count = 4;
  EXPECT_EQ(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(nodes[1], multiplied);
  run(graph);
  EXPECT_THAT(values(), ElementsAre(23, 23, 23));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &status, &same, &graph), cudaSuccess);
  EXPECT_NE(same, id);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  EXPECT_EQ(captured, graph);
  EXPECT_EQ(cudaGraphDestroy(captured), cudaSuccess);
}

TEST_F(Graphs, HoldUserObjects) {
  int destroyed = 0;
  const auto count = [](void* times) { ++*static_cast<int*>(times); };
  cudaUserObject_t object;
  cudaGraph_t graph, clone;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 2, 0), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRetain(object, 2), cudaSuccess);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 1), cudaSuccess);
  EXPECT_EQ(failed(cudaGraphReleaseUserObject(graph, object, 2)), cudaErrorInvalidValue);
  EXPECT_EQ(failed(cudaUserObjectRelease(object, 9)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaUserObjectRelease(object, 3), cudaSuccess);
  ASSERT_EQ(cudaGraphClone(&clone, graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, clone, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(clone), cudaSuccess);
  EXPECT_EQ(destroyed, 0) << "the executable graph holds it";
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(failed(cudaUserObjectRetain(object)), cudaErrorInvalidResourceHandle);

  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(failed(cudaUserObjectCreate(&object, &destroyed, count, 1, 0)), cudaErrorInvalidValue);
}

TEST_F(Graphs, AreUpdated) {
  cudaGraph_t graph;
  cudaGraphNode_t kernel;
  cudaGraphExec_t exec;
  cudaKernelNodeParams parameters = adding(1);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
  parameters = adding(100);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_THAT(values(), ElementsAre(100, 100, 100));

  cudaGraph_t captured;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  multiply<<<1, kN, 0, stream_>>>(data_, 3);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(cudaGraphExecUpdate(exec, captured, &info), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_THAT(values(), ElementsAre(300, 300, 300));
  ASSERT_EQ(cudaGraphAddKernelNode(&kernel, captured, NULL, 0, &parameters), cudaSuccess);
  EXPECT_EQ(failed(cudaGraphExecUpdate(exec, captured, &info)), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(captured), cudaSuccess);
}

TEST_F(Graphs, Refusals) {
  cudaGraph_t graph, other;
  cudaGraphNode_t a, b;
  cudaGraphExec_t exec;
  int* memory;
  EXPECT_EQ(failed(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal)),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(failed(cudaStreamEndCapture(stream_, &graph)), cudaErrorIllegalState);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(failed(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal)),
            cudaErrorIllegalState);
  EXPECT_EQ(failed(cudaMallocAsync(&memory, 4, stream_)), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(failed(cudaFreeAsync(data_, stream_)), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &other), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&a, graph, NULL, 0), cudaSuccess);
  EXPECT_EQ(failed(cudaGraphAddEmptyNode(&b, other, &a, 1)), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphAddEmptyNode(&b, graph, &a, 1), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &b, &a, 1), cudaSuccess); // a circle
  EXPECT_EQ(failed(cudaGraphInstantiate(&exec, graph)), cudaErrorInvalidValue);
  cudaKernelNodeParams nothing = {0};
  EXPECT_EQ(failed(cudaGraphAddKernelNode(&b, graph, NULL, 0, &nothing)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
  EXPECT_EQ(failed(cudaGraphDestroy(graph)), cudaErrorInvalidResourceHandle);
}

TEST_F(Graphs, CopiesOfSlices) {
  const int from[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
  int back[2][1][2] = {};
  int* device;
  ASSERT_EQ(cudaMalloc(&device, sizeof from), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device, from, sizeof from, cudaMemcpyHostToDevice), cudaSuccess);
  cudaMemcpy3DParms parameters = {0};
  parameters.srcPtr = make_cudaPitchedPtr(device, 12, 12, 2);
  parameters.srcPos = make_cudaPos(4, 1, 0); // bytes, rows, slices
  parameters.dstPtr = make_cudaPitchedPtr(back, 8, 8, 1);
  parameters.extent = make_cudaExtent(8, 1, 2);
  parameters.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  EXPECT_EQ(back[0][0][0], 5);
  EXPECT_EQ(back[0][0][1], 6);
  EXPECT_EQ(back[1][0][0], 11);
  EXPECT_EQ(back[1][0][1], 12);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

} // namespace
