"""The background process: run as a script by plain Python, or by a background Blender, with one JSON argument.

The argument holds the folder of the add-on's package and the import paths of the process that started us. In
Blender the package has another name (bl_ext.<repo>.anymocap); here it is always `anymocap_addon`, made from its
folder, so that the same script serves every host.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

PACKAGE = "anymocap_addon"


def import_package(folder: Path) -> None:
    """Make the package from its folder, whatever it is called in Blender."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def main(argument: dict[str, Any]) -> int:
    """Serve requests from stdin until there are no more. Returns the exit code."""
    os.dup2(2, 1)  # what a library prints goes to the log
    known = set(sys.path)
    sys.path[:0] = [entry for entry in argument["sys_path"] if entry not in known]
    import_package(Path(argument["package"]))
    importlib.import_module(f"{PACKAGE}.jobs.numpy_metadata").complete_numpy_metadata()
    serving = importlib.import_module(f"{PACKAGE}.jobs.serving")
    code: int = serving.serve(argument["idle_s"])
    return code


if __name__ == "__main__":
    code = main(json.loads(sys.argv[-1]))
    sys.stdout.flush()
    sys.stderr.flush()
    # Libraries' exit handlers may crash or hang a process whose work is done and reported.
    os._exit(code)
