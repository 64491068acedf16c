"""Promises that every learner keeps."""
