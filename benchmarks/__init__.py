"""Benchmarks: commands, seeded, each figure beside its peer's from the same run."""
