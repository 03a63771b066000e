"""The site for programs, over HTTP: its own API, and the dialects of clients there are already.

What all of them share is here; each has a package of its own, which translates.
"""
