"""Passwords for tests, which need not withstand anybody."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """Hash once; sites in processes of their own can check what it made."""

    iterations = 1
