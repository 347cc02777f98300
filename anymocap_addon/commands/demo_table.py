"""The demo's figures as a table, each beside the bound that it should keep."""

from __future__ import annotations

from typing import Any

from ..jobs.batch_result import figure_at

# (what, where in the report, unit, bound); a figure at most as large as its bound is ok.
ROWS: tuple[tuple[str, tuple[str, ...], str, float | None], ...] = (
    ("reader error, median", ("reader", "median_px"), "px", 7.0),
    ("reader error, 95 %", ("reader", "p95_px"), "px", 40.0),
    ("keypoints within 5 px", ("reader", "pck5"), "", None),
    ("left/right swaps", ("reader", "swaps"), "", None),
    ("fit error, mean", ("fit", "mean_mm"), "mm", None),
    ("fit error, of body length", ("fit", "mean_pct_body"), "%", 1.0),
    ("bone rotation error", ("fit", "rotation_deg"), "deg", None),
    ("planted feet slide", ("fit", "slide_mm_per_frame"), "mm/frame", 2.0),
    ("reprojection", ("fit", "reproj_px"), "px", None),
    ("fit, processor time", ("fit", "cpu_s"), "s", None),
    ("paw agreement", ("sync", "paw_agreement"), "", None),
    ("height gap", ("sync", "height_gap_px"), "px", None),
    ("lag between the views", ("sync", "lag_frames"), "frames", None),
    ("detect to apply", ("seconds_detect_to_apply",), "s", 40.0),
)


def print_table(report: dict[str, Any]) -> None:
    """Print figures with their bounds, then the seconds of each stage."""
    print(f"\n{report['creature']}, {report['frames']} frames, body length {report['body_length_m']:.2f} m")
    for what, keys, unit, bound in ROWS:
        value = figure_at(report, keys)
        shown = "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
        verdict = ""
        if bound is not None and value is not None:
            verdict = f"{'ok' if value <= bound else 'OVER'}, at most {bound:g}"
        print(f"  {what:<26} {shown:>8} {unit:<9} {verdict}".rstrip())
    print("\nSeconds")
    for stage, seconds in report["seconds"].items():
        print(f"  {stage:<26} {seconds:>8.1f}")
    print(f"  {'all stages':<26} {report['seconds_all_stages']:>8.1f}   on {report['cores']} cores")
    if report["seconds_installing"] is not None:
        print(f"  {'installing, apart':<26} {report['seconds_installing']:>8.1f}")
