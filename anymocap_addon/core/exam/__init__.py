"""Exams: clips whose truth is known, and what they are scored by."""
