import { escapeControls } from "../../base/text.js";
import { PigeonholeError } from "../../base/error.js";
import { type EventDetail, bodyOf, foundEvent } from "../inbox-view.js";
import { eraseFromFile } from "./erase-from-file.js";
import { openOutsideConnection } from "./open-outside-connection.js";
import { prepareCountLists } from "./operations/count-lists.js";
import { prepareCounts } from "./operations/counts.js";
import { prepareInspect } from "./operations/inspect.js";
import type { InboxOperator } from "../inbox-operator.js";
import { backUpInboxFile } from "./back-up-inbox-file.js";
import {
  prepareCountOutbox,
  prepareDiscardOutbox,
  prepareListOutbox,
  prepareRetryOutbox,
} from "./operations/outbox-inspect.js";
import { prepareDiscard, prepareReplan } from "./operations/replan.js";
import { runBeside, tryWhileBusy } from "./run-beside.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";

/**
 * Opens the database file of a receiver to list, retry and discard its events. Rejects with `invalid_argument` for a
 * missing file or an old schema, `not_a_pigeonhole_database` and `schema_too_new`; none of them changes the file.
 */
export async function openInboxFile(
  file: string,
  { now = Date.now }: { now?: () => number } = {},
): Promise<InboxOperator> {
  const connection = await tryWhileBusy(() => openOutsideConnection(file));
  const { db } = connection;
  const { list, get } = prepareInspect(db);
  const counts = prepareCounts(db);
  const countOutbox = prepareCountOutbox(db);
  const countLists = prepareCountLists(db);
  const listOutbox = prepareListOutbox(db);
  const retryOutbox = prepareRetryOutbox(db);
  const discardOutbox = prepareDiscardOutbox(db);
  const replan = prepareReplan(db);
  const discard = prepareDiscard(db);

  /** Reads one snapshot, without a lock that a receiver would have to wait for. */
  const read = <Value>(query: () => Value): Promise<Value> => runBeside(db, "deferred", query);
  const write = <Value>(change: () => Value): Promise<Value> => runBeside(db, "immediate", change);

  const mustGet = (id: string): EventDetail => foundEvent(get({ id }), id, file);

  return {
    file,
    overview: () => read(() => ({ events: counts({ now: now() }), contactEvents: countOutbox() })),
    countLists: () => read(countLists),
    listEvents: (query = {}) => read(() => list(query)),
    getEvent: (id) => read(() => get({ id })),
    retryEvent: (id) =>
      write(() => {
        const event = mustGet(id);
        checkRetryable(event);
        const isStuck = event.handlers.some(({ state }) => state === "dead" || state === "parked");
        return isStuck ? replan({ seq: event.seq, handlers: [], now: now() }) : 0;
      }),
    discardEvent: (id) =>
      write(() => {
        mustGet(id);
        return discard({ id, now: now() });
      }),
    erase: (options) => eraseFromFile({ db, now }, options),
    listContactEvents: (query = {}) => read(() => listOutbox(query)),
    retryContactEvent: (key) => write(() => retryOutbox({ key, now: now() })),
    discardContactEvent: (key) => write(() => discardOutbox({ key, now: now() })),
    backUp: (options) => backUpInboxFile({ file, ...options }),
    // oxlint-disable-next-line require-await -- a throw must become a rejection
    close: async () => connection.close(),
  };
}

function checkRetryable(event: EventDetail): void {
  const { id, handlers } = event;
  const note = handlers.find(({ handler, state }) => handler === NOTE_HANDLER && state === "parked");
  if (note !== undefined) {
    const shown = escapeControls(id);
    throw new PigeonholeError(
      "needs_receiver",
      `Event "${shown}" was not understood (${note.reason ?? "parked"}), and only the app knows the schemas and handlers to read it with. Fix them and call receiver.inbox.retry("${shown}") there.`,
    );
  }
  bodyOf(event);
}
