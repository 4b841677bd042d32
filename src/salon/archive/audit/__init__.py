"""The audit log: the chain, its signed head, what it vouches for, and its replay."""
