"""`python -m shapo` is `shapo`."""

from shapo.cli import main

main()
