"""Avatars in chat rooms: Slack, Discord and Harmonica. It translates and never decides."""
