/** What answers a mutant of the SQLite store on PostgreSQL. */
export type Twin =
  /** The mutant of the store on PostgreSQL that makes the same mistake. */
  | { mutant: string }
  /** The mistake is in what both stores run. */
  | { shared: "the queries" }
  /** The mistake is above the store: one code runs on both, and no store is changed. */
  | { above: "the store" }
  /** The mistake cannot be made, and why. */
  | { none: string };

const twin = (mutant: string): Twin => ({ mutant });
const ABOVE: Twin = { above: "the store" };

/** Each mutant of test/simulation/mutants.ts and of test/store/sqlite/layout-mutants.ts, by its name. */
export const SQLITE_TWINS: Readonly<Record<string, Twin>> = {
  "answers before the commit": twin("answers an event before it is stored"),
  "knows duplicates in memory only": twin("knows duplicates in the memory of its process only"),
  "writes the effect and the done mark in two transactions": twin("marks the work outside the transaction"),
  "makes the idempotency key at random when it sends": ABOVE,
  "gives a contact event the time of its sending": ABOVE,
  "answers 401 while its secret is an old one": ABOVE,
  "forgets ids after a day": ABOVE,
  "answers a copy while the first one is still being stored": ABOVE,
  "settles without looking at the lease": twin("settles without looking at the lease"),
  "never renews a lease": ABOVE,
  "works on a file that another process works on": twin("leases work without a lock"),
  "leaves the leases of a dead process as they are": twin("leaves the leases of dead processes"),
  "opens the file with synchronous=NORMAL": twin("leaves the durability to the settings of the role"),
  "lets work wait for a time that only a wrong clock knew": ABOVE,
  "forgets that a handler is held": twin("forgets that a handler is held"),
  "takes the event that came last for the newest": { shared: "the queries" },
  "settles one event of a batch": {
    none: "One statement ends the leases of all its events, and a commit is refused unless each of them was ended.",
  },
  "passes over an event of a history behind each page": { shared: "the queries" },
  "begins runs of a rate before their time": ABOVE,
  "drops ids by its own clock alone": ABOVE,
  "believes a clock that moved forward by days": ABOVE,
  "answers 200 while the file is busy": ABOVE,
  "answers 200 while the disk is full": ABOVE,
  "answers 200 while it stops": ABOVE,
  "answers 200 when the time for an answer is over and the commit is not": ABOVE,

  "settles a batch before its commit": twin("answers a settlement before it is written"),
  "answers a batch before its commit": twin("answers an event before it is stored"),
  "uses a number again when its event was dropped": twin("uses a number again when its event was dropped"),
  "gives the work of an event one token": {
    none: "One statement gives all of its leases one token, which no lease of the same work had before.",
  },
  "takes the number of an event for its token": twin("gives work again under the token of its last lease"),
  "settles as done whatever its token is": twin("settles without looking at the lease"),
  "settles as failed whatever its token is": twin("settles without looking at the lease"),
  "saves a step whatever its token is": twin("saves a step without looking at the lease"),
  "renews whatever its token is": twin("settles without looking at the lease"),
  "gives a lease back whatever its token is": twin("settles without looking at the lease"),
  "runs ctx.commit without asking for its lease": twin("commits without looking at the lease"),
  "takes a file over in the epoch of the dead process": twin("gives work again under the token of its last lease"),
  "takes the file over at each look": twin("takes the leases of every other process"),
  "ends all leases at each look": twin("ends all leases at each look"),
  "leaves the leases of a dead process": twin("leaves the leases of dead processes"),
  "counts no death": twin("counts no death"),
  "takes a file over in two transactions": twin("forgets a dead process that has work still"),
  "lets leases never end": twin("lets leases never end"),
  "plans what is done once more": twin("plans what is done once more"),
  "discards work that runs": { shared: "the queries" },
  "drops events that have open work": twin("drops events that have work"),
  "keeps the work of events that it drops": twin("drops the marks of one handler only"),
  "takes an id that it has for a new one": twin("knows duplicates in the memory of its process only"),
  "answers an event that it has not stored": twin("answers an event before it is stored"),
};

/** Mistakes that can be made where many processes share a database, and the mutants that make them. */
export const SHARED_MISTAKES: Readonly<Record<string, readonly string[]>> = {
  "the mark outside the transaction": ["marks the work outside the transaction"],
  "no fence": ["commits without a fence", "commits without looking at the lease"],
  "waking without looking": [
    "leases work that waits for a key which other work has",
    "takes keys without a look at what was leased meanwhile",
    "retries by hand without a look at what is being settled",
  ],
  "duplicates compared in the snapshot of the insert": ["compares duplicates in the snapshot of the insert"],
  "an unsorted batch": ["inserts a batch in the order of arrival"],
  "a high-water mark over sequence numbers": [
    "keeps a high-water mark over the numbers of events",
    "keeps a high-water mark over the numbers of contact events",
  ],
  "a hot counter row": ["counts all runs in one row"],
};
