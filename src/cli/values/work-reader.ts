import { isOpen } from "../../store/state-words.js";
import { runsAgain } from "../../operator/states.js";
import { SECOND } from "../../base/duration.js";
import type { EventView } from "../../store/inbox-view.js";
import { describeError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { wait } from "../frame/interruption.js";
import { type InboxSearch, findInbox } from "./find-inbox.js";
import { findAbsence, readPlace } from "./inbox-place.js";

/** Longest wait for handlers, for all events of a command together. */
const PATIENCE_MS = 2 * SECOND;
const LOOK_EVERY_MS = 25;

/** An event, and the flag by which another command finds the database that has it. */
export interface FoundEvent {
  event: EventView;
  flag: string;
}

/** Reads in the app's inbox what handlers made of events. */
export class WorkReader {
  readonly #signal: AbortSignal;
  readonly #find: () => Promise<InboxSearch>;
  #leftMs = PATIENCE_MS;
  #found: Promise<InboxSearch> | undefined;
  #unread: string | undefined;

  /** `given` is the value of `--inbox`, whose file must be there. */
  constructor(given: string | undefined, context: CommandContext) {
    const place = given === undefined ? undefined : readPlace("--inbox", given, context);
    const absence = place && findAbsence(place);
    if (absence !== undefined) throw absence;
    this.#signal = context.signal;
    this.#find = () => findInbox(context, place);
  }

  /** Why the last event could not be read, in a sentence; undefined where no database was named or found. */
  get unread(): string | undefined {
    return this.#unread;
  }

  /** Undefined if there is no inbox that can be read, or it does not have the event. */
  async read(id: string | null): Promise<FoundEvent | undefined> {
    if (id === null) return undefined;
    this.#found ??= this.#find();
    try {
      const found = await this.#found;
      const { place } = found;
      if (found.kind === "absent") {
        // Where nobody named a file, none is expected.
        if (place.by !== undefined) this.#unread = `${place.by} names ${place.at}, and there is no such file.`;
        return undefined;
      }
      if (found.kind !== "open") throw found.error;
      const event = await found.inbox.getEvent(id);
      if (event !== undefined) return { event, flag: place.flag };
      this.#unread = `${found.inbox.database} does not have the event ${id}.`;
      return undefined;
    } catch (error) {
      // A database that cannot be read, or belongs to another app, is no reason to end a command.
      this.#unread = describeError(error).message;
      return undefined;
    }
  }

  /** The same once every handler has ended or waits for its next attempt, or the command's patience is at its end. */
  async readEnded(id: string | null): Promise<FoundEvent | undefined> {
    for (;;) {
      const found = await this.read(id);
      if (found === undefined || hasStopped(found.event) || this.#leftMs <= 0 || this.#signal.aborted) return found;
      this.#leftMs -= LOOK_EVERY_MS;
      await wait(LOOK_EVERY_MS, this.#signal).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    const found = await this.#found?.catch(() => undefined);
    if (found?.kind === "open") await found.inbox.close();
  }
}

/** Whether nothing more happens to the event for now. */
function hasStopped({ handlers }: EventView): boolean {
  return handlers.every((work) => !isOpen(work.state) || runsAgain(work));
}

/** Does the work with a reader of the app's inbox, and closes it again. `given` is the value of `--inbox`. */
export async function withWorkReader<Result>(
  given: string | undefined,
  context: CommandContext,
  work: (reader: WorkReader) => Promise<Result>,
): Promise<Result> {
  const reader = new WorkReader(given, context);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}
