"""The verbs of the command line that are more than one stage, and how progress is shown in a terminal."""
