"""HTML pages from templates: self-contained files that need no network."""

from __future__ import annotations

from typing import Any


def render(template: str, **values: Any) -> str:
    """Return a page; everything put into it is escaped unless the template says otherwise."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("lookalike.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(template).render(**values)
