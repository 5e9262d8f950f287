import { openInboxFile } from "../../store/open-inbox-file.js";
import { type CheckResult, fail, pass, warn } from "./check.js";

/** Opens a receiver's database and looks for work that waits for a person. */
export async function checkDatabase(file: string): Promise<CheckResult> {
  try {
    const inbox = await openInboxFile(file);
    try {
      const { events, contactEvents } = await inbox.overview();
      const stuck = events.dead + events.parked + contactEvents.dead;
      if (stuck === 0) return pass("database", `${file} is in order; ${events.pending} pending.`);
      return warn(
        "database",
        `${file} has ${events.dead} dead and ${events.parked} parked pieces of work, and ${contactEvents.dead} dead contact events.`,
        "Look with pigeonhole inbox list --state dead and pigeonhole outbox list --state dead.",
      );
    } finally {
      await inbox.close();
    }
  } catch (error) {
    return fail("database", error instanceof Error ? error.message : "It cannot be opened.", "Look at --db.");
  }
}
