"""The gate: whether an action may be offered, and the flow that carries it to done."""
