"""Redis: keys, the commit script, reads; and an in-memory twin."""
