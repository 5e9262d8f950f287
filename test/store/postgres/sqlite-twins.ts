/** What answers a mutant of the SQLite store on PostgreSQL. */
export type Twin =
  /** The mutant of the store on PostgreSQL that makes the same mistake. */
  | { mutant: string }
  /** The mistake is above the store: one code runs on both, and no store is changed. */
  | { above: "the store" }
  /** The mistake cannot be made, and why. */
  | { none: string };

const twin = (mutant: string): Twin => ({ mutant });
const ABOVE: Twin = { above: "the store" };
const NO_RANGE: Twin = { none: "A mark is a row for one event and one handler; it has no range, no bits and no end." };
const NO_LOW_WATER: Twin = { none: "No number says which events are settled: work that is not done has a row." };
const NO_IN_FLIGHT: Twin = { none: "Work in flight is a leased row, which a commit that fails takes back by itself." };

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
  "drops ids by its own clock alone": ABOVE,
  "believes a clock that moved forward by days": ABOVE,
  "answers 200 while the file is busy": ABOVE,
  "answers 200 while the disk is full": ABOVE,
  "answers 200 while it stops": ABOVE,
  "answers 200 when the time for an answer is over and the commit is not": ABOVE,

  "loses the second mark of a batch": twin("loses all marks of a batch but one"),
  "loses the marks of all handlers but one": twin("loses the marks of all handlers but one"),
  "writes the marks with the next batch": twin("answers a settlement before it is written"),
  "keeps the marks of a commit that failed": twin("marks the work outside the transaction"),
  "forgets what was in flight when a commit fails": NO_IN_FLIGHT,
  "marks a range over a parked event between": NO_RANGE,
  "marks a range that is too long by one": NO_RANGE,
  "marks a range that is too short by one": NO_RANGE,
  "writes marks over one number more than they are looked for": NO_RANGE,
  "looks for marks over one number less than they are written": NO_RANGE,
  "takes the end of a mark for one number more": NO_RANGE,
  "reads the bits of a mark one place too far": NO_RANGE,
  "takes another handler's mark for its own": twin("takes another handler's mark for its own"),
  "uses a number again when its event was dropped": twin("uses a number again when its event was dropped"),
  "puts the low-water mark too high by one": twin("keeps a high-water mark over the numbers of events"),
  "moves the low-water mark past what was just stored": twin("keeps a high-water mark over the numbers of events"),
  "never moves the low-water mark": NO_LOW_WATER,
  "takes what ctx.commit has done for in flight still": twin("leaves the work that ctx.commit has done"),
  "takes work that has got a row for in flight still": {
    none: "Work has one form, its row, from the moment it is stored until it is done.",
  },
  "lets leases in flight never end": twin("lets leases never end"),
  "keeps its epoch in memory only": twin("settles without looking at the lease"),
  "asks for its epoch once, and not in each transaction": twin("settles without looking at the lease"),
  "saves a step without asking whether the work is still its own": twin("saves a step without looking at the lease"),
  "commits without asking whether the work is still its own": twin("commits without looking at the lease"),
  "takes a file over in the epoch of the dead process": twin("gives work again under the token of its last lease"),
  "takes the file over at each look": twin("takes the leases of every other process"),
  "ends all leases at each look": twin("ends all leases at each look"),
  "leaves what was in flight at a death where it is": twin("leaves the leases of dead processes"),
  "counts no death of work in flight": twin("counts no death"),
  "takes a file over in two transactions": twin("forgets a dead process that has work still"),
  "writes the rows of the dead in a transaction of their own": twin("forgets a dead process that has work still"),
  "gives a new handler the events that were in flight": {
    none: "Each handler of an event has a row of its own from the start; recovery changes rows and makes none.",
  },
  "plans what is marked or in flight once more": twin("plans what is done once more"),
  "drops events that are in flight": twin("drops events that have work"),
  "drops a mark with the first event under it": twin("drops the marks of events that stay"),
  "drops the marks of one handler only": twin("drops the marks of one handler only"),
  "answers a batch before its commit": twin("answers an event before it is stored"),
  "answers a settlement before it is written": twin("answers a settlement before it is written"),
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
