import { Client, type ClientBase } from "pg";
import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { LATE, inTime } from "../../base/wait.js";

/** A server that can be reached has taken its leave by then. */
export const CLOSES_WITHIN_MS = SECOND;

/** Closes a connection; a server that has fallen silent is not waited for. Never rejects. */
export async function closeClient(client: Client): Promise<void> {
  const closing = client.end().catch(() => undefined);
  if ((await inTime(closing, waitingClock, CLOSES_WITHIN_MS)) === LATE) cutClient(client);
}

/** Closes the socket of a connection at once, also under a statement. */
export function cutClient(client: ClientBase): void {
  if (client instanceof Client) client.connection.stream.destroy();
}
