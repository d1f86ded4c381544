"""What a program sees of lookalike, and what it costs to look."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import lookalike

HEAVY = ("numpy", "pyarrow", "matplotlib", "jinja2")


def modules() -> list[str]:
    found = pkgutil.walk_packages(lookalike.__path__, "lookalike.")
    return sorted(module.name for module in found if not module.name.endswith("__main__"))


def test_every_public_name_exists_and_no_other_is_promised():
    assert sorted(lookalike.__all__) == [
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
    for name in lookalike.__all__:
        assert callable(getattr(lookalike, name))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'fnid'"):
        _ = lookalike.fnid


def test_the_public_functions_stay_functions_after_all_modules_were_imported():
    for module in modules():
        importlib.import_module(module)
    assert lookalike.plan.__module__ == lookalike.find.__module__ == "lookalike.api"


@pytest.mark.parametrize(
    "program",
    ["import lookalike", "from lookalike.cli.main import app; app(['find', '--help'])"],
    ids=["import", "help"],
)
def test_looking_loads_nothing_heavy(program):
    check = f"""
import sys
try:
    exec({program!r})
except SystemExit:
    pass
loaded = [name for name in {HEAVY!r} if name in sys.modules]
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", check], check=True, capture_output=True)


@pytest.mark.parametrize("module", modules())
def test_the_examples_in_docstrings_run(module):
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert not failed


def test_every_error_is_a_lookalike_error_and_a_familiar_one():
    for name, familiar in [("UsageError", ValueError), ("InputError", ValueError)]:
        assert issubclass(getattr(lookalike, name), lookalike.LookalikeError)
        assert issubclass(getattr(lookalike, name), familiar)
    assert issubclass(lookalike.OutputError, OSError)
