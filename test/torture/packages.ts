import { type PackageChange, type PackageCopy, copyPackage } from "../simulation/package-copy.js";

/** The file is copied from the WAL every 2 pages instead of every 500, and by the writer itself every 6. */
const OFTEN: readonly PackageChange[] = [
  { file: "store/sqlite/open-database.js", from: "wal_autocheckpoint = 4000", to: "wal_autocheckpoint = 6" },
  { file: "store/sqlite/checkpoint-thread.js", from: "PAGES = 1_000", to: "PAGES = 2" },
  { file: "store/sqlite/checkpointer.js", from: "COMMANDS = 128", to: "COMMANDS = 1" },
];

/** Copies of the package under torture, and what is changed in them. */
const CHANGES = {
  often_checkpointed: OFTEN,
  normal: [
    { file: "store/sqlite/open-database.js", from: "synchronous = FULL", to: "synchronous = NORMAL" },
    { file: "store/sqlite/open-database.js", from: "synchronous === 2", to: "synchronous >= 1" },
  ],
} satisfies Record<string, readonly PackageChange[]>;

const copies = new Map<keyof typeof CHANGES, PackageCopy>();
process.on("exit", removeCopies);

/** The `index.js` of a copy, which is made when it is first asked for. */
export function copyOf(name: keyof typeof CHANGES): string {
  const copy = copies.get(name) ?? copyPackage({ name, changes: CHANGES[name] });
  copies.set(name, copy);
  return copy.entry;
}

/** A worker of the tests may be ended without its exit being told, so they call it themselves. */
export function removeCopies(): void {
  for (const copy of copies.values()) copy.remove();
  copies.clear();
}
