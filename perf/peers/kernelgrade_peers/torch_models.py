# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The models as a user of PyTorch would write them: nothing of kernels/models is translated.

The transformer is not ours at all but Hugging Face's, made from the same config.json, so that names
of weights, layout of heads and rotary positions are judged, too. So are networks for images, which
are torchvision's.
"""

import json

import torch
import torchvision
import transformers
from torch import nn

NETWORKS = ("resnet18", "resnet50", "resnet101", "alexnet")


class Mlp(nn.Module):
    """Linear layers, each with a gelu behind it."""

    def __init__(self, weights):
        super().__init__()
        count = sum(name.endswith(".weight") for name in weights)
        dim = weights["layers.0.weight"].shape[0]
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(count))
        self.load_state_dict(weights)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return x


class Transformer(nn.Module):
    """Hugging Face's decoder of that configuration."""

    def __init__(self, weights, values):
        super().__init__()
        config = transformers.AutoConfig.for_model(**values)
        self.model = transformers.AutoModelForCausalLM.from_config(config)
        missing = self.model.load_state_dict(weights, strict=False).missing_keys
        tied = ["lm_head.weight"] if values["tie_word_embeddings"] else []
        if sorted(missing) != tied:
            raise ValueError(f"the weights lack {missing}")

    def forward(self, tokens):
        return self.model(tokens).logits.flatten(0, 1)


class Network(nn.Module):
    """torchvision's network for images, without dropout.

    Batchnorms that are folded, of which the weights have none, add a bias and nothing else.
    """

    def __init__(self, name, weights):
        super().__init__()
        self.model = torchvision.models.get_model(name)
        state = dict(weights)
        for module, layer in self.model.named_modules():
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
            if isinstance(layer, nn.BatchNorm2d):
                state[f"{module}.num_batches_tracked"] = torch.tensor(0)
            if isinstance(layer, nn.BatchNorm2d) and f"{module}.weight" not in weights:
                convolution = module.replace("bn", "conv").replace("downsample.1", "downsample.0")
                state[f"{module}.bias"] = state.pop(f"{convolution}.bias")
                state[f"{module}.weight"] = torch.full((layer.num_features,), (1 + layer.eps) ** 0.5)
                state[f"{module}.running_mean"] = torch.zeros(layer.num_features)
                state[f"{module}.running_var"] = torch.ones(layer.num_features)
        self.model.load_state_dict(state)

    def forward(self, x):
        return self.model(x)


def make(name, weights, config):
    """The model, and its loss as a function of its output."""
    if name == "mlp":
        return Mlp(weights), lambda output, inputs: nn.functional.mse_loss(output, inputs["target"])
    model = Network(name, weights) if name in NETWORKS else Transformer(weights, config)
    return model, lambda output, inputs: nn.functional.cross_entropy(output, inputs["targets"].flatten().long())


def make_optimizer(name, model, batch):
    if name in NETWORKS:
        return torch.optim.SGD(model.parameters(), lr=0.1 * batch / 256, momentum=0.9, weight_decay=1e-4)
    return torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def model_input(name, inputs):
    """What the model is called with."""
    if name == "transformer":
        return inputs["tokens"].long()
    x = inputs["x"]
    if name in NETWORKS:
        size = int((x.shape[1] / 3) ** 0.5)
        return x.reshape(-1, 3, size, size)
    return x


def train(optimizer, loss_of, steps):
    """The loss of each step."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def run(name, weights, inputs, config_file, steps, dtype=torch.float32):
    """The first forward pass's output, and the loss of each training step."""
    torch.use_deterministic_algorithms(True)
    config = json.loads(config_file.read_text()) if config_file else None
    model, loss_of = make(name, weights, config)
    model = model.to(dtype).train(steps > 0)
    given = {key: value.to(dtype) if value.is_floating_point() else value.long() for key, value in inputs.items()}
    x = model_input(name, given)
    with torch.no_grad():
        output = model(x)
    if steps == 0:
        return output, []
    optimizer = make_optimizer(name, model, len(x))
    return output, train(optimizer, lambda: loss_of(model(x), given), steps).tolist()
