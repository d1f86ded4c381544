"""What can go wrong, as a tree.

    LookalikeError                 every error lookalike raises on purpose
    ├── UsageError                 an option, or a combination of options, makes no sense
    ├── InputError                 the data cannot be read or does not have the promised shape
    └── OutputError                the result cannot be written where it was asked for

A message says what was given, what is allowed and what to do. Anything that is not a
`LookalikeError` is a defect of lookalike.
"""


class LookalikeError(Exception):
    """Base of every error that lookalike raises on purpose."""


class UsageError(LookalikeError, ValueError):
    """An option, or a combination of options, makes no sense."""


class InputError(LookalikeError, ValueError):
    """The data cannot be read or does not have the promised shape."""


class OutputError(LookalikeError, OSError):
    """The result cannot be written where it was asked for."""
