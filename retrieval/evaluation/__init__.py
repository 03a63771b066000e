"""Measuring retrieval on judged sets of questions."""
