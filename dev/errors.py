"""The one exception whose text is meant for the person at the terminal."""


class DevError(Exception):
    """Something a person can put right; the text says what is wrong, where, and what to do."""
