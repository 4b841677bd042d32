"""The command line: translate arguments, call the app, shape the answer."""
