"""Limits, and what was used of them."""
