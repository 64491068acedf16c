"""The typed HTTP client; imports none of the other rooms."""
