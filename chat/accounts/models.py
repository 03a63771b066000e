"""Tokens and guests."""
