"""Expert avatars: who they are, what they answer, when they speak."""
