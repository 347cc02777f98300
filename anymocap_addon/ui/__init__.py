"""What the artist sees: panels, preferences, overlay."""
