"""The ONNX graph of multilingual-e5-small, with its matrix products on 8-bit integers.

Weights keep 7 bits and have a scale an output: with 8 bits, processors without VNNI instructions
overflow in the middle of a product. Activations have a scale a tensor, except where a few huge
values would spoil it: the last product of a layer has a scale a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import ModelProto, NodeProto

    from retrieval.backends.e5_weights import Weights

CONTRIB = "com.microsoft"  # onnxruntime's own, fused operators
OPSETS = {"": 17, CONTRIB: 1}
IR_VERSION = 9


def build(weights: Weights, *, quantised: bool = True) -> ModelProto:
    """Return the encoder, from `input_ids` and `attention_mask` to the normalised `embedding`.

    Without quantisation its results are exact, at twice the time; tests compare with that.
    """
    builder = _Builder(weights, quantised=quantised)
    hidden = builder.embeddings()
    for layer in range(weights.shape.layers):
        hidden = builder.layer(f"layer{layer}.", f"l{layer}.", hidden)
    builder.pooled(hidden)
    return builder.model()


class _Builder:
    """Collects nodes and constants; methods return the name of their output."""

    def __init__(self, weights: Weights, *, quantised: bool) -> None:
        self.weights = weights
        self.shape = weights.shape
        self.quantised = quantised
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, npt.NDArray[Any]] = {
            "zero": np.array([0]),
            "first axis": np.array([1]),
            "second axis": np.array([2]),
            "three": np.full(3, self.shape.hidden),
            "step": np.array(1 / 127, np.float32),
            "unit": np.array(1, np.float32),
            "middle": np.array(128, np.uint8),
        }

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def embeddings(self) -> str:
        """Add words (8 bits, a scale a word), positions and the one token type there is."""
        table = self.weights.matrix("emb.word", self.shape.hidden).values()
        scales = np.abs(table).max(axis=1, keepdims=True) / 127
        scales[scales == 0] = 1
        words = self.constant("words", np.rint(table / scales).astype(np.int8))
        word_scales = self.constant("word scales", scales.astype(np.float32))
        positions = self.weights.floats("emb.pos").reshape(-1, self.shape.hidden)
        types = self.weights.floats("emb.type").reshape(-1, self.shape.hidden)
        table_of_positions = self.constant("positions", positions + types[0])

        self.node("Gather", [words, "input_ids"], "word levels", axis=0)
        self.node("Gather", [word_scales, "input_ids"], "word steps", axis=0)
        self.node("Cast", ["word levels"], "word floats", to=TensorProto.FLOAT)
        self.node("Mul", ["word floats", "word steps"], "word vectors")
        self.node("Shape", ["input_ids"], "length", start=1, end=2)
        self.node("Slice", [table_of_positions, "zero", "length", "zero"], "position vectors")
        self.node("Add", ["word vectors", "position vectors"], "embedded")
        self.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        norm = ["embedded", *self.norm("emb.ln")]
        return self.node("LayerNormalization", norm, "hidden", epsilon=self.shape.epsilon)

    def layer(self, out: str, source: str, hidden: str) -> str:
        """Add attention and feed-forward, each followed by a residual sum and a norm."""
        joint = self.linear(hidden, [source + part for part in "qkv"], out + "qkv")
        parts = [out + part for part in ("query", "key", "value")]
        self.nodes.append(helper.make_node("Split", [joint, "three"], parts, axis=-1))
        attention = self.node(
            "MultiHeadAttention",
            [*parts, "", "mask"],
            out + "attention",
            domain=CONTRIB,
            num_heads=self.shape.heads,
        )
        mixed = self.linear(attention, [source + "ao"], out + "mixed")
        hidden = self.residual(mixed, hidden, source + "aln", out + "attended")
        inner = self.linear(hidden, [source + "fi"], out + "inner")
        active = self.node("Gelu", [inner], out + "active", domain=CONTRIB)
        outer = self.linear(active, [source + "fo"], out + "outer", scale_a_token=True)
        return self.residual(outer, hidden, source + "oln", out + "hidden")

    def pooled(self, hidden: str) -> str:
        """Add the mean over the tokens that are no padding, and make its length 1."""
        self.node("Cast", ["attention_mask"], "mask floats", to=TensorProto.FLOAT)
        self.node("Unsqueeze", ["mask floats", "second axis"], "mask column")
        self.node("Mul", [hidden, "mask column"], "kept")
        # The sum has the mean's direction.
        self.node("ReduceSum", ["kept", "first axis"], "sum", keepdims=0)
        return self.node("LpNormalization", ["sum"], "embedding", axis=1, p=2)

    def norm(self, source: str) -> list[str]:
        """Return the names of a norm's weight and bias."""
        names = [f"{source}.w", f"{source}.b"]
        return [self.constant(name, self.weights.floats(name)) for name in names]

    def residual(self, left: str, right: str, norm: str, out: str) -> str:
        """Add the norm of a sum."""
        inputs = [left, right, *self.norm(norm)]
        epsilon = self.shape.epsilon
        return self.node("SkipLayerNormalization", inputs, out, domain=CONTRIB, epsilon=epsilon)

    def linear(
        self, hidden: str, sources: list[str], out: str, *, scale_a_token: bool = False
    ) -> str:
        """Add one product for the matrices of all sources, side by side, and their biases."""
        columns = self.shape.feed_forward if scale_a_token else self.shape.hidden
        matrices = [self.weights.matrix(f"{source}.w", columns).values() for source in sources]
        matrix = np.concatenate(matrices).T
        biases = [self.weights.floats(f"{source}.b") for source in sources]
        bias = self.constant(out + ".bias", np.concatenate(biases))
        if not self.quantised:
            self.node("MatMul", [hidden, self.constant(out + ".matrix", matrix)], out + ".product")
            return self.node("Add", [out + ".product", bias], out)
        scale = np.abs(matrix).max(axis=0) / 63
        levels = self.constant(out + ".levels", np.rint(matrix / scale).astype(np.int8))
        scales = self.constant(out + ".scales", scale.astype(np.float32))
        if scale_a_token:
            return self.product_scaled_by_token(hidden, levels, scales, bias, out)
        zeros = self.constant(out + ".zeros", np.zeros(len(scale), np.int8))
        inputs = [hidden, levels, scales, zeros, bias]
        return self.node("DynamicQuantizeMatMul", inputs, out, domain=CONTRIB)

    def product_scaled_by_token(
        self, hidden: str, levels: str, scales: str, bias: str, out: str
    ) -> str:
        """Add a product whose activations are quantised token by token."""
        size = self.node("Abs", [hidden], out + ".size")
        largest = self.node("ReduceMax", [size], out + ".largest", axes=[-1], keepdims=1)
        step = self.node("Mul", [largest, "step"], out + ".step")
        scaled = self.node("Div", [hidden, step], out + ".scaled")
        rounded = self.node("QuantizeLinear", [scaled, "unit", "middle"], out + ".rounded")
        product = self.node("MatMulInteger", [rounded, levels, "middle"], out + ".integers")
        floats = self.node("Cast", [product], out + ".floats", to=TensorProto.FLOAT)
        by_token = self.node("Mul", [floats, step], out + ".by_token")
        by_output = self.node("Mul", [by_token, scales], out + ".by_output")
        return self.node("Add", [by_output, bias], out)

    def model(self) -> ModelProto:
        """Return the finished model."""
        tokens = ["batch", "tokens"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, tokens)
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info(
            "embedding", TensorProto.FLOAT, ["batch", self.shape.hidden]
        )
        constants = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        return helper.make_model(
            helper.make_graph(self.nodes, "multilingual-e5-small", inputs, [output], constants),
            opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS.items()],
            ir_version=IR_VERSION,
        )
