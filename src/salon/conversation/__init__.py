"""Sessions, turns and participants: who said what, in which order."""
