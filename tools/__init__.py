"""The sieve command."""
