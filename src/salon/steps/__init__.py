"""What happens in a companion's turn: each agent one file, a function and its declaration."""
