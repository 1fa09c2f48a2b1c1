"""`python -m shapo` is `shapo`."""

from shapo.cli.main import main

main()
