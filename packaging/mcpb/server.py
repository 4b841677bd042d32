"""The entry point of the bundle: the `salon` command itself."""
# ruff: noqa: INP001

from salon.cli.main import main

if __name__ == "__main__":
    main()
