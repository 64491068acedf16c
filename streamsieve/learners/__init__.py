"""Learners, one file an algorithm."""
