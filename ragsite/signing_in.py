"""Settings of signing in."""
