/**
 * The mutants on PostgreSQL that make the same mistakes as mutants of SQLite alone, or why the mistake cannot be made.
 * What both stores run, and what is above them, has no twin.
 */
export const SQLITE_TWINS: Readonly<Record<string, string | { none: string }>> = {
  "knows duplicates in memory only": "knows duplicates in the memory of its process only",
  "writes the effect and the done mark in two transactions": "marks the work outside the transaction",
  "settles without looking at the lease": "settles without looking at the lease",
  "works on a file that another process works on": "leases work without a lock",
  "leaves the leases of a dead process as they are": "leaves the leases of dead processes",
  "opens the file with synchronous=NORMAL": "leaves the durability to the settings of the role",
  "forgets that a handler is held": "forgets that a handler is held",
  "settles one event of a batch": {
    none: "One statement ends the leases of all its events, and a commit is refused unless each of them was ended.",
  },

  "settles a batch before its commit": "answers a settlement before it is written",
  "answers a batch before its commit": "answers an event before it is stored",
  "uses a number again when its event was dropped": "uses a number again when its event was dropped",
  "gives the work of an event one token": {
    none: "One statement gives all of its leases one token, which no lease of the same work had before.",
  },
  "takes the number of an event for its token": "gives work again under the token of its last lease",
  "settles as done whatever its token is": "settles without looking at the lease",
  "settles as failed whatever its token is": "settles without looking at the lease",
  "renews whatever its token is": "settles without looking at the lease",
  "gives a lease back whatever its token is": "settles without looking at the lease",
  "runs ctx.commit without asking for its lease": "commits without looking at the lease",
  "takes a file over in the epoch of the dead process": "gives work again under the token of its last lease",
  "takes the file over at each look": "takes the leases of every other process",
  "ends all leases at each look": "ends all leases at each look",
  "leaves the leases of a dead process": "leaves the leases of dead processes",
  "counts no death": "counts no death",
  "takes a file over in two transactions": "forgets a dead process that has work still",
  "lets leases never end": "lets leases never end",
  "takes an id that it has for a new one": "knows duplicates in the memory of its process only",
  "answers an event that it has not stored": "answers an event before it is stored",
};
