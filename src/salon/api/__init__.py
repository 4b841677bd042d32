"""The front door: HTTP and WebSocket. It validates, calls one function of the app and answers.

It decides nothing. Turns are synchronous and run in threads, so no client holds up another.
"""
