import { isPigeonholeError } from "../../base/error.js";
import { isConnectionString } from "../../store/connection-string.js";
import { openInbox } from "../../store/open-inbox.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";
import { databaseFlag } from "../values/inbox-place.js";

/** Opens a receiver's database and finds work that needs a person. `given` is `--db`, if a variable did not name it. */
export async function checkDatabase(place: string, given: string | undefined): Promise<CheckResult> {
  try {
    const inbox = await openInbox(place);
    // Of a URL that cannot be read there is no name, so it comes after the error for that.
    const flag = databaseFlag(given);
    const { database } = inbox;
    try {
      const { events, contactEvents } = await inbox.overview();
      const stuck = events.dead + events.parked + contactEvents.dead;
      if (stuck === 0) return pass("database", `${database} is in order; ${events.pending} pending.`);
      const lists = [
        ...(events.dead > 0 ? ["inbox list --state dead"] : []),
        ...(events.parked > 0 ? ["inbox list --state parked"] : []),
        ...(contactEvents.dead > 0 ? ["outbox list --state dead"] : []),
      ];
      return warn(
        "database",
        `${database} has ${events.dead} dead and ${events.parked} parked pieces of work, and ${contactEvents.dead} dead contact events.`,
        `Look with ${lists.map((list) => `pigeonhole ${list}${flag}`).join(" and ")}.`,
      );
    } finally {
      await inbox.close();
    }
  } catch (error) {
    // The variable may be for the app's own tables alone.
    const isOfApp = given === undefined && isConnectionString(place) && isPigeonholeError(error, "invalid_argument");
    if (isOfApp) return skip("database", `Not looked at: ${error.message}`);
    return fail("database", error instanceof Error ? error.message : "It cannot be opened.", "Look at --db.");
  }
}
