"""The MCP edge: avatars served to any client that speaks the Model Context Protocol.

It translates and never decides: each tool checks its arguments, calls one function of the app and
shapes the answer.
"""
