"""The S-curve of a plan as a picture: what it finds, what it misses, what it compares in vain."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from lookalike.errors import OutputError, UsageError
from lookalike.families import jaccard

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from lookalike.forecast import Forecast

FORMATS = (".png", ".svg", ".html")
POINTS = 400
INK, CURVE, MISSED, VAIN = "#555555", "#2563eb", "#dc2626", "#d97706"


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before any work is done for it."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"cannot draw {path}: a picture is {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise OutputError(f"the folder {path.parent} does not exist")


def draw(forecast: Forecast, path: Path) -> None:
    """Write the picture as PNG, SVG or HTML, by the extension of the path."""
    check_picture(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind == "html":
        from lookalike.report.pages import render

        page = render("curve.html", forecast=forecast, picture=svg(forecast))
        path.write_text(page, encoding="utf-8")
    else:
        path.write_bytes(_saved(forecast, kind))


def svg(forecast: Forecast) -> str:
    """Return the picture as an SVG element, to be put into a page."""
    whole = _saved(forecast, "svg").decode()
    return whole[whole.index("<svg") :]


def _saved(forecast: Forecast, kind: str) -> bytes:
    import matplotlib as mpl

    # Text stays text, and the file depends on nothing but the plan.
    fixed: Any = {"svg.fonttype": "none", "svg.hashsalt": "lookalike", "font.family": "sans-serif"}
    with mpl.rc_context(fixed):
        figure = _figure(forecast)
        buffer = io.BytesIO()
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
        return buffer.getvalue()


def _figure(forecast: Forecast) -> Figure:
    from matplotlib.figure import Figure

    plan, t = forecast.plan, float(forecast.settings.threshold)
    xs = [step / POINTS for step in range(POINTS + 1)]
    ys = [plan.curve(jaccard.collision_probability(x)) for x in xs]
    formula = f"$1-(1-s^{{{plan.rows}}})^{{{plan.bands}}}$"
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(xs, ys, color=CURVE, linewidth=2, label=formula)
    below, above = [x <= t for x in xs], [x >= t for x in xs]
    vain, missed = "compared in vain (false positives)", "missed (false negatives)"
    axes.fill_between(xs, ys, where=below, color=VAIN, alpha=0.25, linewidth=0, label=vain)
    axes.fill_between(xs, ys, 1, where=above, color=MISSED, alpha=0.45, linewidth=0, label=missed)
    axes.axvline(t, color=INK, linewidth=1, linestyle="--", label=f"threshold {t:g}")
    axes.plot([t], [plan.recall_at_threshold], "o", color=CURVE, markersize=6)
    at_threshold = f"found with probability {plan.recall_at_threshold:.4f}"
    beside, side = (-8, "right") if t > 0.5 else (8, "left")
    axes.annotate(
        at_threshold, (t, 1.06), (beside, 0), textcoords="offset points", ha=side, color=INK
    )
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1.12),
        xlabel=jaccard.NAME,
        ylabel="probability of being found",
        title=str(plan),
    )
    if t >= 0.5:
        axes.legend(loc="center left", frameon=False, fontsize="small")
    else:
        axes.legend(loc="lower right", frameon=False, fontsize="small")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
