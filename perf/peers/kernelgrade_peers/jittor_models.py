# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The models as a user of Jittor would write them: functions of the weights, by the names that files have."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import jittor as jt
import numpy as np
from jittor import nn

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Unsupported

Weights = dict[str, Any]
Inputs = dict[str, Any]
Model = Callable[[Weights, Inputs], Any]
Loss = Callable[[Any, Inputs], Any]
Computed = Callable[[Inputs], list[Any]]
Finish = Callable[[list[Any], Inputs], Any]
Optimiser = Callable[[list[Any]], Any]


def linear(w: Weights, name: str, x: Any) -> Any:
    y = nn.matmul_transpose(x, w[f"{name}.weight"])
    return y + w[f"{name}.bias"] if f"{name}.bias" in w else y


def gelu(x: Any) -> Any:
    """Its own is the approximation by tanh."""
    return x * (1 + jt.erf(x / 2**0.5)) / 2


def mlp(w: Weights, t: Inputs) -> Any:
    x = t["x"]
    for layer in range(sum(name.endswith(".weight") for name in w)):
        x = gelu(linear(w, f"layers.{layer}", x))
    return x


def normed(w: Weights, name: str, x: Any, stride: int = 1, pad: int = 0) -> Any:
    """A convolution and the batchnorm behind it, by the batch; one that was folded into it is its bias."""
    y = nn.conv2d(x, w[f"{name}.weight"], w.get(f"{name}.bias"), stride, pad)
    norm = name.replace("conv", "bn").replace("downsample.0", "downsample.1")
    if f"{norm}.weight" not in w:
        return y
    centred = y - y.mean(dims=(0, 2, 3), keepdims=True)
    deviation = jt.sqrt((centred * centred).mean(dims=(0, 2, 3), keepdims=True) + 1e-5)
    gamma, beta = (w[f"{norm}.{part}"].reshape(1, -1, 1, 1) for part in ("weight", "bias"))
    return centred / deviation * gamma + beta


def resnet(w: Weights, t: Inputs) -> Any:
    """He et al., arXiv 1512.03385, with torchvision's names."""

    def block(name: str, x: Any, stride: int) -> Any:
        shortcut = normed(w, f"{name}.downsample.0", x, stride) if f"{name}.downsample.0.weight" in w else x
        if f"{name}.conv3.weight" in w:  # 1 x 1, 3 x 3, 1 x 1
            y = nn.relu(normed(w, f"{name}.conv1", x))
            y = nn.relu(normed(w, f"{name}.conv2", y, stride, 1))
            return nn.relu(normed(w, f"{name}.conv3", y) + shortcut)
        y = nn.relu(normed(w, f"{name}.conv1", x, stride, 1))
        return nn.relu(normed(w, f"{name}.conv2", y, 1, 1) + shortcut)

    size = int((t["x"].shape[1] / 3) ** 0.5)
    x = nn.relu(normed(w, "conv1", t["x"].reshape(-1, 3, size, size), 2, 3))
    x = nn.max_pool2d(x, 3, 2, 1)
    for stage in range(1, 5):
        blocks = {name.split(".")[1] for name in w if name.startswith(f"layer{stage}.")}
        for index in range(len(blocks)):
            x = block(f"layer{stage}.{index}", x, 2 if stage > 1 and index == 0 else 1)
    return linear(w, "fc", x.mean(dims=(2, 3)))


def attention(q: Any, k: Any, v: Any) -> Any:
    """Each token looks at those before it and at itself. Extents: batch, heads, tokens, dim."""
    tokens, dim = q.shape[2], q.shape[3]
    hidden = jt.array(np.triu(np.full((tokens, tokens), -1e30, np.float32), 1))
    scores = jt.matmul(q, k.transpose(0, 1, 3, 2)) / dim**0.5 + hidden
    return jt.matmul(nn.softmax(scores, dim=-1), v)


def rms_norm(x: Any, weight: Any, epsilon: float) -> Any:
    return x / jt.sqrt((x * x).mean(dim=-1, keepdims=True) + epsilon) * weight


def rotated(x: Any, theta: float) -> Any:
    """Su et al., arXiv 2104.09864; the pairs are a head's first and second half."""
    half = x.shape[-1] // 2
    angles = np.outer(np.arange(x.shape[2]), theta ** (-np.arange(half) / half)).astype(np.float32)
    cos, sin = jt.array(np.cos(angles)), jt.array(np.sin(angles))
    a, b = x[..., :half], x[..., half:]
    return jt.concat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def llama(config: dict[str, Any]) -> Model:
    """Touvron et al., arXiv 2302.13971, with grouped heads, arXiv 2305.13245."""
    epsilon, theta, heads = config["rms_norm_eps"], config["rope_theta"], config["num_attention_heads"]

    def attend(w: Weights, name: str, x: Any) -> Any:
        batch, tokens, _ = x.shape
        q, k, v = (linear(w, f"{name}.{part}_proj", x) for part in "qkv")
        dim = q.shape[-1] // heads
        q, k, v = (each.reshape(batch, tokens, -1, dim).transpose(0, 2, 1, 3) for each in (q, k, v))
        q, k = rotated(q, theta), rotated(k, theta)
        group = heads // k.shape[1]
        k, v = (jt.repeat_interleave(each, group, dim=1) for each in (k, v))
        return linear(w, f"{name}.o_proj", attention(q, k, v).transpose(0, 2, 1, 3).reshape(batch, tokens, -1))

    def model(w: Weights, t: Inputs) -> Any:
        x = w["model.embed_tokens.weight"][t["tokens"]]
        for layer in range(config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            x = x + attend(w, f"{name}.self_attn", rms_norm(x, w[f"{name}.input_layernorm.weight"], epsilon))
            y = rms_norm(x, w[f"{name}.post_attention_layernorm.weight"], epsilon)
            gated = nn.silu(linear(w, f"{name}.mlp.gate_proj", y)) * linear(w, f"{name}.mlp.up_proj", y)
            x = x + linear(w, f"{name}.mlp.down_proj", gated)
        head = "model.embed_tokens" if config["tie_word_embeddings"] else "lm_head"
        logits = linear(w, head, rms_norm(x, w["model.norm.weight"], epsilon))
        return logits.reshape(-1, logits.shape[-1])

    return model


def mean_square_error(output: Any, t: Inputs) -> Any:
    return nn.mse_loss(output, t["target"])


def cross_entropy(output: Any, t: Inputs) -> Any:
    return nn.cross_entropy_loss(output, t["targets"].reshape(-1))


def adamw(parameters: list[Any]) -> Any:
    return jt.optim.AdamW(parameters, lr=1e-3, eps=1e-8, betas=(0.9, 0.999), weight_decay=0.01)


def momentum(batch: int, parameters: list[Any]) -> Any:
    return jt.optim.SGD(parameters, lr=0.1 * batch / 256, momentum=0.9, weight_decay=1e-4)


def make(case: Case) -> tuple[Model, Loss, Optimiser]:
    name = case.shape.split("_")[0]
    if name == "mlp":
        return mlp, mean_square_error, adamw
    if name.startswith("resnet"):
        return resnet, cross_entropy, partial(momentum, case.number("batch"))
    config = json.loads(case.input_bytes("config")) if name == "transformer" else {}
    if "rope_theta" not in config:
        raise Unsupported("in Jittor only the models mlp, resnet and Llama decoders are supported")
    return llama(config), cross_entropy, adamw


def prepared(case: Case, weights: dict[str, np.ndarray]) -> tuple[Computed, Finish]:
    """What computes the case, and what makes its output of that: of training the losses before each step and the
    weights that are left, since what nobody waits for is never computed; the loss of these is added behind the work."""
    model, loss_of, optimiser_of = make(case)
    given = {name: jt.array(each) for name, each in weights.items()}
    if "training" not in case.words():
        return lambda t: [model(given, t)], lambda result, _: result[0]

    def trained(t: Inputs) -> list[Any]:
        w = {name: each.copy() for name, each in given.items() if "running_" not in name}
        optimiser = optimiser_of(list(w.values()))
        losses = []
        for _ in range(case.number("steps", 1)):
            loss = loss_of(model(w, t), t)
            optimiser.step(loss)
            losses.append(loss)
        return [jt.concat(losses), *w.values()]

    def with_last(result: list[Any], t: Inputs) -> Any:
        before, *left = result
        names = [name for name in given if "running_" not in name]
        return jt.concat([before, loss_of(model(dict(zip(names, left, strict=True)), t), t)])

    return trained, with_last
