"""A run on disk: its folder, its files, and who writes and reads them."""
