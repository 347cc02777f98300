"""The check-up of a creature: plain facts of what an artist brought, and rules that tell what they mean for a capture."""
