"""The one registry of algorithms: every module of this package that is named
``<primitive>_<algorithm>`` and defines ``ALGORITHM``.

Adding an algorithm is adding a file; pages, player, files and tests follow from the registry.
"""

from __future__ import annotations

import importlib
import pkgutil

from collectives.algorithm import Algorithm
from collectives.primitives import PRIMITIVES


def _discover() -> dict[str, Algorithm]:
    found = []
    for module in pkgutil.iter_modules(__path__):
        if module.name.startswith("_"):
            continue
        algorithm = getattr(importlib.import_module(f"{__name__}.{module.name}"), "ALGORITHM", None)
        if not isinstance(algorithm, Algorithm):
            raise TypeError(f"{module.name}.py defines no ALGORITHM")
        if algorithm.primitive not in PRIMITIVES:
            raise ValueError(f"{module.name}.py: no primitive named {algorithm.primitive!r}")
        if module.name != f"{algorithm.primitive}_{algorithm.slug}":
            raise ValueError(f"{module.name}.py holds {algorithm.name}: file and name must agree")
        found.append(algorithm)
    order = list(PRIMITIVES)
    found.sort(key=lambda a: (order.index(a.primitive), not a.opens, a.order, a.slug))
    return {algorithm.name: algorithm for algorithm in found}


#: ``primitive/algorithm`` -> entry, by primitive and then in the order the pages show them.
REGISTRY: dict[str, Algorithm] = _discover()


def algorithms_of(primitive: str) -> list[Algorithm]:
    """The algorithms of one primitive; the first is the one it opens with."""
    return [algorithm for algorithm in REGISTRY.values() if algorithm.primitive == primitive]
