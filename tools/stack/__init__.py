"""Servers that the sieve command starts by itself."""
