"""How many bytes a rank sends in one training step, by the way the work is split.

The formulas stand here and in ``docs/assets/js/traffic.js``, where the reader can change the
numbers; a test holds the two together, and another holds the shares to what schedules count.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Work(NamedTuple):
    """What a step is made of.

    Attributes:
        parameters: of the whole model.
        layers: of the model.
        hidden: width of the activations between the layers.
        moe: layers whose feed-forward part is split into experts.
        chosen: experts that a token is sent to.
        ranks: N, of the group that shares the work in the one way that is looked at.
        tokens: that a rank works on in a step; batch times sequence.
        gradient: bytes of a gradient.
        value: bytes of a parameter and of an activation.
    """

    parameters: int
    layers: int
    hidden: int
    moe: int
    chosen: int
    ranks: int
    tokens: int
    gradient: int
    value: int


class Traffic(NamedTuple):
    """One kind of call in a step.

    Attributes:
        scheme: the way the work is split, by its slug.
        primitive: the slug of the primitive, or "sendrecv".
        calls: how often in a step.
        size: M of one call, in bytes.
        sent: what a rank sends in all calls, in bytes.
    """

    scheme: str
    primitive: str
    calls: int
    size: int
    sent: Fraction


SCHEMES = {
    "data": "数据并行（DDP）",
    "zero": "ZeRO-1/2",
    "fsdp": "ZeRO-3（FSDP）",
    "tensor": "张量并行",
    "sequence": "张量并行 + 序列并行",
    "pipeline": "流水线并行",
    "expert": "专家并行",
}
"""The ways to split the work, in the order of the pages."""


def share(primitive: str, ranks: int) -> Fraction:
    """What a rank sends in the algorithm that asks least of its port, in M."""
    apart = Fraction(ranks - 1, ranks)
    return {"allreduce": 2 * apart, "sendrecv": Fraction(1)}.get(primitive, apart)


def traffic(work: Work) -> list[Traffic]:
    """Return every kind of call of every scheme; a model without experts has no row for them."""
    gradients = work.parameters * work.gradient
    weights = work.parameters * work.value
    activations = work.tokens * work.hidden * work.value
    calls = [
        ("data", "allreduce", 1, gradients),
        ("zero", "reducescatter", 1, gradients),
        ("zero", "allgather", 1, weights),
        ("fsdp", "allgather", 2, weights),
        ("fsdp", "reducescatter", 1, gradients),
        ("tensor", "allreduce", 4 * work.layers, activations),
        ("sequence", "allgather", 6 * work.layers, activations),
        ("sequence", "reducescatter", 4 * work.layers, activations),
        ("pipeline", "sendrecv", 2, activations),
        ("expert", "alltoall", 4 * work.moe, activations * work.chosen),
    ]
    return [
        Traffic(scheme, primitive, count, size, count * size * share(primitive, work.ranks))
        for scheme, primitive, count, size in calls
        if count
    ]
