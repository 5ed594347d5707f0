# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations as a user of PyTorch would write them, eager and compiled by Inductor."""

import json
from collections.abc import Callable

import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional as F

from kernelgrade_peers.case import Case
from kernelgrade_peers.registry import Solver, Unsupported

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "u8": torch.uint8,
}
Inputs = dict[str, Tensor]
Operation = Callable[[Inputs], Tensor]
Finish = Callable[[Tensor], Tensor]  # what is to be known of a result, and is not part of the work


def elementwise(case: Case) -> Operation:
    function = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}[case.shape.split("_")[0]]
    return lambda t: function(t["a"], t["b"])


def activation(case: Case) -> Operation:
    function = {"relu": F.relu, "silu": F.silu, "gelu": F.gelu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
    word = case.shape.rsplit("_n", 1)[0]
    if word not in function:
        raise Unsupported(f"there is no {word} here")
    return lambda t: function[word](t["x"])


def softmax(case: Case) -> Operation:
    function = F.log_softmax if "log" in case.words() else F.softmax
    return lambda t: function(t["x"], dim=-1)


def softmax_sum(case: Case) -> Operation:
    return lambda t: F.softmax(t["alpha"].float(), dim=0) @ t["x"].float()


def layernorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]
    return lambda t: F.layer_norm(t["x"], t["x"].shape[-1:], t["gamma"], t["beta"], epsilon)


def rmsnorm(case: Case) -> Operation:
    epsilon = case.scalars["epsilon"]
    return lambda t: F.rms_norm(t["x"], t["x"].shape[-1:], t["gamma"], epsilon)


def reduction(case: Case) -> Operation:
    words = case.words()  # the axis is always the second one
    if "max" in words or "min" in words:
        extremum = torch.amax if "max" in words else torch.amin
        return lambda t: extremum(t["x"], dim=1)
    function, dtype = (torch.mean if "mean" in words else torch.sum), DTYPES[case.dtype]
    return lambda t: function(t["x"], dim=1, dtype=dtype)


def transpose(case: Case) -> Operation:
    return lambda t: t["x"].t().contiguous()


def cross_entropy(case: Case) -> Operation:
    smoothing, z = case.scalars.get("label_smoothing", 0.0), case.scalars.get("z_loss", 0.0)

    def loss(t: Inputs) -> Tensor:
        x = t["x"].float()  # as the loss is f32 for all types
        result = F.cross_entropy(x, t["target"].long(), reduction="none", label_smoothing=smoothing)
        return result + z * torch.logsumexp(x, dim=-1).square() if z else result

    return loss


def gemm(case: Case) -> Operation:
    if case.words() - {"nn", "nt", "tn", "tt"} or set(case.inputs) != {"a", "b"} or len(case.outputs) != 1:
        raise Unsupported("of gemm the product alone is here, without an epilogue or TF32")
    layout = case.words().pop()

    def product(t: Inputs) -> Tensor:
        a, b = t["a"], t["b"]
        return torch.matmul(a.mT if layout[0] == "t" else a, b.mT if layout[1] == "t" else b)

    batch = case.number("b", 1)
    if batch == 1:
        return product
    return lambda t: product({name: each.reshape(batch, -1, each.shape[-1]) for name, each in t.items()})


def attention(case: Case) -> Operation:
    if case.words() - {"causal"} or set(case.inputs) != {"q", "k", "v"} or "window" in case.shape:
        raise Unsupported("of attention there is the whole and the causal one")
    scale, queries, keys = case.scalars.get("scale"), case.number("q"), case.number("k")
    grouped = case.number("kv", case.number("h")) != case.number("h")
    mask = None
    if "causal" in case.words():  # the last query sees the last key
        mask = torch.ones(queries, keys, dtype=torch.bool, device=DEVICE).tril(keys - queries)
    return lambda t: F.scaled_dot_product_attention(
        t["q"], t["k"], t["v"], attn_mask=mask, scale=scale, enable_gqa=grouped
    )


def in_layout(function: Operation, case: Case) -> Operation:
    """NHWC is PyTorch's channels_last: a view of the same memory."""
    if "nhwc" not in case.words():
        return function

    def channels_last(t: Inputs) -> Tensor:
        images = {name: each.permute(0, 3, 1, 2) if each.dim() == 4 else each for name, each in t.items()}
        return function(images).permute(0, 2, 3, 1)

    return channels_last


def conv2d(case: Case) -> Operation:
    stride, pad = case.number("s"), case.number("p")
    if "separable" in case.words():

        def separable(t: Inputs) -> Tensor:
            channels = t["x"].shape[1]
            deep = F.conv2d(t["x"], t["weights"], stride=stride, padding=pad, groups=channels)
            return F.conv2d(deep, t["mixing"][:, :, None, None])

        return in_layout(separable, case)
    groups = case.number("g")
    bias = "bias" if "bias" in case.inputs else ""
    return in_layout(lambda t: F.conv2d(t["x"], t["weights"], t.get(bias), stride, pad, groups=groups), case)


def pooling(case: Case) -> Operation:
    kernel, stride, pad = (case.number(key) for key in ("k", "s", "p"))
    if "max" in case.words():
        return in_layout(lambda t: F.max_pool2d(t["x"], kernel, stride, pad), case)
    return in_layout(lambda t: F.avg_pool2d(t["x"], kernel, stride, pad, count_include_pad=False), case)


OPERATIONS = {
    each.__name__: each
    for each in (
        elementwise,
        activation,
        softmax,
        softmax_sum,
        layernorm,
        rmsnorm,
        reduction,
        transpose,
        cross_entropy,
        gemm,
        attention,
        conv2d,
        pooling,
    )
}


def unchanged(result: Tensor) -> Tensor:
    return result


def whole_model(case: Case, inputs: Inputs, compiled: bool) -> tuple[Operation, Finish]:
    """Its output, or the losses of training from the given weights, to which the loss of what it leaves is added."""
    from kernelgrade_peers import torch_models  # which needs more packages

    name = case.shape.split("_")[0]
    weights = {key: each.to(DEVICE) for key, each in safetensors.torch.load(bytes(case.input_bytes("weights"))).items()}
    config = json.loads(case.input_bytes("config")) if name == "transformer" else None
    model, loss_of = torch_models.make(name, weights, config)
    trains = "training" in case.words()
    model = model.to(DEVICE).train(trains)
    x = torch_models.model_input(name, inputs)
    called = torch.compile(model, fullgraph=True) if compiled else model
    if not trains:
        return lambda _: called(x), unchanged
    first = {key: each.clone() for key, each in model.state_dict().items()}
    steps = case.number("steps", 1)

    def losses(t: Inputs) -> Tensor:
        model.load_state_dict(first)
        return torch_models.train(
            torch_models.make_optimizer(name, model, len(x)), lambda: loss_of(called(x), t), steps
        )

    def with_last(losses: Tensor) -> Tensor:
        with torch.no_grad():
            return torch.cat([losses, loss_of(model(x), inputs).reshape(1)])

    return losses, with_last


def library() -> str:
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"


def to_bytes(tensor: Tensor) -> bytes:
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def wait(_: object) -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def prepare(case: Case, name: str) -> Solver:
    if case.op not in OPERATIONS and case.op != "model":
        raise Unsupported(f"nobody has written {case.op} in PyTorch here")
    inputs = {
        each.name: torch.frombuffer(case.input_bytes(each.name), dtype=DTYPES[each.dtype])
        .reshape(each.extents)
        .to(DEVICE)
        for each in case.inputs.values()
        if each.name not in case.files
    }
    output = next(iter(case.outputs.values()))
    if name == "torch_compile":
        torch.compiler.reset()
    if case.op == "model":
        function, finish = whole_model(case, inputs, compiled=name == "torch_compile")
    else:
        function, finish = OPERATIONS[case.op](case), unchanged
        if name == "torch_compile":
            function = torch.compile(function, fullgraph=True)

    def run() -> object:
        with torch.inference_mode("training" not in case.words()):
            return function(inputs)

    def read(result: object) -> dict[str, bytes]:
        assert isinstance(result, Tensor)
        return {output.name: to_bytes(finish(result).to(DTYPES[output.dtype]))}

    return Solver(run, wait, read)
