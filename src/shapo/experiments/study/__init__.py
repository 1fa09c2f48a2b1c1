"""The study of docs/study.md: what is run, what is compared, and what the data say."""
