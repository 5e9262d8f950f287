import { openInbox } from "../../store/open-inbox.js";
import { type CheckResult, fail, pass, warn } from "../frame/check-result.js";

/**
 * Opens a receiver's database and finds work that needs a person. `flag` is what other commands need to find it too.
 */
export async function checkDatabase(file: string, flag: string): Promise<CheckResult> {
  try {
    const inbox = await openInbox(file);
    try {
      const { events, contactEvents } = await inbox.overview();
      const stuck = events.dead + events.parked + contactEvents.dead;
      if (stuck === 0) return pass("database", `${file} is in order; ${events.pending} pending.`);
      const lists = [
        ...(events.dead > 0 ? ["inbox list --state dead"] : []),
        ...(events.parked > 0 ? ["inbox list --state parked"] : []),
        ...(contactEvents.dead > 0 ? ["outbox list --state dead"] : []),
      ];
      return warn(
        "database",
        `${file} has ${events.dead} dead and ${events.parked} parked pieces of work, and ${contactEvents.dead} dead contact events.`,
        `Look with ${lists.map((list) => `pigeonhole ${list}${flag}`).join(" and ")}.`,
      );
    } finally {
      await inbox.close();
    }
  } catch (error) {
    return fail("database", error instanceof Error ? error.message : "It cannot be opened.", "Look at --db.");
  }
}
