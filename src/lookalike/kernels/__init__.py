"""The kernels: flat NumPy arrays in, flat NumPy arrays out.

The names here are the native ones. Each is defined by its namesake in
`lookalike.kernels.reference`, which the tests put in their place.
"""

from lookalike.kernels._native import (
    UNICODE,
    band_keys,
    candidates,
    canonicalise,
    components,
    fingerprint,
    first_copies,
    forest,
    greedy,
    join,
    number_occurrences,
    shingle_text,
    shingle_tokens,
    sketch,
    tokenise,
    verify,
)

__all__ = [
    "UNICODE",
    "band_keys",
    "candidates",
    "canonicalise",
    "components",
    "fingerprint",
    "first_copies",
    "forest",
    "greedy",
    "join",
    "number_occurrences",
    "shingle_text",
    "shingle_tokens",
    "sketch",
    "tokenise",
    "verify",
]
