"""Lets a script that was started by any Python go on under the project's own, in build/venv."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def use_project_python() -> None:
    """Start the running script again under build/venv, which is made first where it is missing."""
    environment = REPOSITORY / "build" / "venv"
    if Path(sys.prefix).resolve() == environment.resolve():
        return
    subprocess.run([str(REPOSITORY / "scripts" / "setup_env"), "dev"], check=True)
    python = environment / "bin" / "python"
    os.execv(python, [str(python), *sys.argv])
