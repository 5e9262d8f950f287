import { errorMessage } from "../../base/error-text.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";
import { findInbox } from "../values/find-inbox.js";
import type { InboxPlace } from "../values/inbox-place.js";

/** Opens the receiver's database and finds work that needs a person. No result if there are no places to look in. */
export async function checkDatabase(places: readonly InboxPlace[]): Promise<CheckResult[]> {
  const found = await findInbox(places);
  switch (found.kind) {
    case "open":
      try {
        return [await checkWork(found.inbox, found.place.flag)];
      } catch (error) {
        return [unusable(error, found.place)];
      } finally {
        await found.inbox.close();
      }
    case "without_inbox":
      if (found.place.by === "--db") return [unusable(found.error, found.place)];
      return [skip("database", `Not looked at: ${found.error.message}`)];
    case "unusable":
      return [unusable(found.error, found.place)];
    case "none":
      return [];
  }
}

function unusable(error: unknown, { by = "--db" }: InboxPlace): CheckResult {
  return fail("database", errorMessage(error), `Look at ${by}.`);
}

async function checkWork(inbox: InboxOperator, flag: string): Promise<CheckResult> {
  const { database } = inbox;
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
    `Look with ${lists.map((list) => `npx pigeonhole ${list}${flag}`).join(" and ")}.`,
  );
}
