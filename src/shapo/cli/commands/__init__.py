"""The commands of `shapo`, one file each.

`EXAMPLES` teach, `describe(parser)` declares the options, `run(options)` does the work. What a command needs beyond its
options it imports in `run`, so that `shapo --help` answers at once.
"""
