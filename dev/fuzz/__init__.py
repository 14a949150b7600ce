"""Mutated replies against the reader, judged by a strict reading that shares no code with it."""
