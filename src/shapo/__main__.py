"""`python -m shapo` is `shapo`: nothing in the current folder is imported for what it happens to be called."""

import os
import sys

if sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from shapo.cli.main import main

main()
