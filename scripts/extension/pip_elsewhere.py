"""pip with the environment markers of another platform: pip_elsewhere.py MARKERS-AS-JSON PIP-ARGUMENTS…

pip chooses wheels for another platform when it is told to, but evaluates markers (`; platform_system == "Linux"`) with
those of the Python that runs it: on Linux it would want CUDA's packages for the Windows torch, and no colorama.
"""

from __future__ import annotations

import json
import sys

from pip._internal.cli.main import main
from pip._vendor.packaging import markers

if __name__ == "__main__":
    environment = json.loads(sys.argv[1])
    markers.default_environment = lambda: dict(environment)
    sys.exit(main(sys.argv[2:]))
