"""`python -m anymocap_addon VERB …`"""

import sys

from .cli import main

sys.exit(main(sys.argv[1:]))
