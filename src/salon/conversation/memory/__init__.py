"""What is kept about one user: facts, episodes and things said, each with the user's own words.

How the parts of a turn use it:

- `MemoryStore` (store.py) belongs to ONE user. `Salon.memory_of(user)` opens it; nobody can reach
  another user's memories through it, because it holds none.
- A turn reads from it (`search`) and lays changes down in it (`put`, `forget`). Until the turn is
  recorded these are pending: `pending()` lists them, and searches of the same turn see them.
- Whoever records the turn calls `commit(tx, card)` inside the same `archive.write` as the turn's
  card (`append_turn(…, along=store.commit)`; it may run twice, since it only uses the transaction),
  then `settle()` once the write has returned. `HandleMoved`: another turn of this user was faster;
  write again. A turn that failed calls `discard()`.
- Deleting the turns of a session deletes the memories that rest on them alone.
- A replay gives the steps an `InMemoryStore` and plays the turns in order: ids are made from
  content, times come from the turn, so the same turns leave the same memories.

Invariant: every memory cites a span of a message that this user wrote; a memory whose quote is not
there is refused when it is written and left out when it is read.
"""
