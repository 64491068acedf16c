"""Learners that take samples as they arrive."""
