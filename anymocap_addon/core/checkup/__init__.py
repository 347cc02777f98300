"""The check-up of a creature: plain facts of what an artist brought, and rules that say what they mean."""
