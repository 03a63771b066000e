"""Settings of privacy: what is kept, and for how long."""
