"""The report: every figure of a clip in report.json, and a picture of them in report.png."""
