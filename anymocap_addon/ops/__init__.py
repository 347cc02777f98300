"""Thin operators: gather settings, start the stage, report."""
