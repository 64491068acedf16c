"""The StreamSieve library: bytes and arrays in, arrays out. No clock, socket, environment or log."""
