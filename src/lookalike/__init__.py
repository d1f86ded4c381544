"""lookalike finds the near-duplicates and similar items in a collection.

    >>> import lookalike as la
    >>> result = la.find(["a rose is a rose", "A rose is a rose.", "a lily"], threshold=0.8)
    >>> len(result)
    1

The public names are those of `__all__`; they are loaded when they are first used, so that
``import lookalike`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.api import cluster, dedup, explain, find, plan, similarity
    from lookalike.decisions import Clusters, Decisions
    from lookalike.errors import InputError, LookalikeError, OutputError, UsageError
    from lookalike.explaining import Explanation
    from lookalike.forecast import Forecast
    from lookalike.result import Result

__version__ = "0.1.0"

_HOMES = {
    "Clusters": "lookalike.decisions",
    "Decisions": "lookalike.decisions",
    "Explanation": "lookalike.explaining",
    "Forecast": "lookalike.forecast",
    "InputError": "lookalike.errors",
    "LookalikeError": "lookalike.errors",
    "OutputError": "lookalike.errors",
    "Result": "lookalike.result",
    "UsageError": "lookalike.errors",
    "cluster": "lookalike.api",
    "dedup": "lookalike.api",
    "explain": "lookalike.api",
    "find": "lookalike.api",
    "plan": "lookalike.api",
    "similarity": "lookalike.api",
}

__all__ = [
    "Clusters",
    "Decisions",
    "Explanation",
    "Forecast",
    "InputError",
    "LookalikeError",
    "OutputError",
    "Result",
    "UsageError",
    "cluster",
    "dedup",
    "explain",
    "find",
    "plan",
    "similarity",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
