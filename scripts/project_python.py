"""Lets a script that was started by any Python go on under the project's own, in build/venv."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def use_project_python(parser: argparse.ArgumentParser | None = None) -> None:
    """Start the running script again under build/venv, which is made first where it is missing.

    Args:
        parser: of the script's arguments; it answers --help and refuses wrong ones before anything is installed.
    """
    if parser is not None:
        parser.parse_args()
    environment = REPOSITORY / "build" / "venv"
    if Path(sys.prefix).resolve() == environment.resolve():
        return
    subprocess.run([str(REPOSITORY / "scripts" / "setup_env"), "dev"], check=True)
    python = environment / "bin" / "python"
    os.execv(python, [str(python), *sys.argv])
