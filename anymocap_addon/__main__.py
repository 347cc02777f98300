"""`python -m anymocap_addon VERB …`"""

import os
import sys

from .cli import main

code = main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
if "bpy" in sys.modules:
    os._exit(code)  # bpy as a module may crash or hang at its exit; all is done and reported by now
sys.exit(code)
