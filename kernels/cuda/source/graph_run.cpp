// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/graph_run.h"

#include "cuda/source/state.h"
#include "runtime/host/queue.h"

#include <algorithm>
#include <optional>

namespace kg::foreign {
namespace {

// Consecutive nodes are work of the same stream, so that a graph needs few streams.
class Chains {
 public:
  Chains(const host::WorkStream& stream, std::size_t steps, GraphOrder& order)
      : stream_(stream), order_(order), done_(steps) {
    host::observer->stream_waits(stream_, order.launched);
    start_ = host::observer->recorded(stream_);
  }
  void run(const std::vector<GraphStep>& steps, std::size_t i) {
    Chain& chain = chain_of(steps[i]);
    for (const std::size_t other : steps[i].after)
      if (other != chain.last) host::observer->stream_waits(chain.stream, done_[other]);
    {
      const StreamWork work({chain.stream, nullptr, steps[i].call_site, true});
      steps[i].run();
    }
    chain.last = i;
    done_[i] = host::observer->recorded(chain.stream);
  }
  ~Chains() {
    for (const Chain& chain : chains_)
      host::observer->stream_waits(stream_, host::observer->recorded(chain.stream));
    order_.launched = host::observer->recorded(stream_);
  }
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;

 private:
  struct Chain {
    const host::WorkStream& stream;
    std::size_t last;
  };

  Chain& chain_of(const GraphStep& step) {
    for (Chain& chain : chains_)
      if (std::find(step.after.begin(), step.after.end(), chain.last) != step.after.end())
        return chain;
    if (chains_.empty()) return chains_.emplace_back(Chain{stream_, 0});
    if (chains_.size() > order_.chains.size())
      order_.chains.push_back(hidden_stream(host::StreamKind::non_blocking));
    Chain& chain = chains_.emplace_back(Chain{order_.chains[chains_.size() - 1], 0});
    host::observer->stream_waits(chain.stream, start_);
    return chain;
  }

  const host::WorkStream& stream_;
  GraphOrder& order_;
  host::Moment start_;
  std::deque<Chain> chains_;
  std::vector<host::Moment> done_; // by step index
};

} // namespace

void run_steps(const std::vector<GraphStep>& steps, cudaStream_t stream, GraphOrder& order) {
  host::Queue& queue = host::queue_of(stream_of(stream));
  std::optional<Chains> chains;
  if (host::observer && !queue.capturing())
    chains.emplace(work_stream(stream), steps.size(), order);
  for (std::size_t i = 0; i < steps.size() && fault() == cudaSuccess; ++i)
    chains ? chains->run(steps, i) : queue.run(steps[i].run);
}

} // namespace kg::foreign
