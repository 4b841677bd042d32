"""The blackboard with toy steps."""
