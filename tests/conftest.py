"""What all tests share: where the data sets are, and how hard to try."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Examples are drawn the same way each time; times are not measured on a shared machine.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=5000)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="try much harder, for hours")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--soak"):
        settings.load_profile("soak")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `make soak` only."""
    if not config.getoption("--soak"):
        left_out = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of public data sets, or skip."""
    if not DATA.is_dir():
        pytest.skip(f"the public data sets are not at {DATA} (set LOOKALIKE_DATA)")
    return DATA
