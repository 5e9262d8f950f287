// Runs with a limit on the size of its files, so that a write fails as it does on a broken disk. Prints what each call
// came to.
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";

const [scenario, file] = process.argv.slice(2);
const MORE_THAN_A_BATCH = 9 * 1024 * 1024;

const event = (id, bytes, work = []) => ({
  id,
  type: "email.received",
  receivedAt: 1,
  signedAt: 1,
  test: false,
  body: Buffer.alloc(bytes, id),
  work,
});
const outcomes = {};
const note = (name, promise) =>
  promise.then(
    () => (outcomes[name] = "resolved"),
    (error) => (outcomes[name] = `${error.code} ${error.message}`),
  );

const store = createSqliteStore({ file });
await store.open({ logger: silentLogger });
const accepted = await store.accept(event("first", 10, [{ handler: "h", leaseUntil: 1_000_000 }]));
const done = { ...accepted.leases[0], at: 2, dropSteps: false, to: "done" };

const SCENARIOS = {
  /** One event after the other until one fails, and some after that. */
  async fill() {
    for (let number = 0, after = 0; after < 3; number += 1) {
      await note(`evt_${number}`, store.accept(event(`evt_${number}`, 65_536)));
      if (outcomes[`evt_${number}`] !== "resolved") after += 1;
      if (number > 1_000) break;
    }
  },
  /** Small ones wait in the next batch, and a commit for its turn, while a large one fails. */
  async waiting() {
    const waiting = [note("large", store.accept(event("large", MORE_THAN_A_BATCH)))];
    waiting.push(note("small", store.accept(event("small", 10))));
    await new Promise((resolve) => setImmediate(resolve));
    waiting.push(
      note(
        "commit",
        store.commit(done, () => {}),
      ),
    );
    await Promise.all(waiting);
    await note("later", store.accept(event("later", 10)));
  },
  /** The user's own writes meet the broken disk. */
  async commit() {
    const large = ({ db }) => {
      db.exec("CREATE TABLE mine (x)");
      db.prepare("INSERT INTO mine VALUES (?)").run(Buffer.alloc(MORE_THAN_A_BATCH));
    };
    await note("commit", store.commit(done, large));
    await note("later", store.accept(event("later", 10)));
  },
};
await SCENARIOS[scenario]();
process.stdout.write(JSON.stringify(outcomes));
process.exit();
