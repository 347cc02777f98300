"""Stages' steps that only tests have; the installed add-on's own worker imports them."""
