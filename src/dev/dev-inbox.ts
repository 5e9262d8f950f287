import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { sleep } from "../base/wait.js";
import type { CaptureSummary } from "../capture/model/capture.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { openInbox } from "../store/open-inbox.js";
import type { EventView } from "../store/inbox-view.js";
import type { DevEvent, Report } from "./lines/dev-event.js";
import { WorkFollower } from "./api/work-follower.js";

const LOOK_INTERVAL_MS = SECOND;

export interface DevInboxOptions {
  clock: Clock;
  report: Report;
  changed: (work: EventView) => void;
  /** The captures of the folder, newest first. */
  captures: () => readonly CaptureSummary[];
}

/** The receiver's inbox of a dev server, which the app may make after the dev server has started. */
export class DevInbox {
  readonly #options: DevInboxOptions;
  readonly #stopping = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #inbox: InboxOperator | undefined;
  #work: WorkFollower | undefined;

  constructor(options: DevInboxOptions) {
    this.#options = options;
  }

  get inbox(): InboxOperator | undefined {
    return this.#inbox;
  }

  /** Given with the inbox. */
  get work(): WorkFollower | undefined {
    return this.#work;
  }

  /** Opens it and follows the work on the captures. */
  async open(place: string): Promise<void> {
    const { captures, ...follower } = this.#options;
    const inbox = await openInbox(place);
    if (this.#stopping.signal.aborted) return inbox.close();
    this.#inbox = inbox;
    this.#work = new WorkFollower({ inbox, ...follower });
    this.#work.catchUp(captures());
  }

  /** Looks each second for the place until there is one, opens that and then calls `found` once. */
  lookFor(find: () => Promise<string | undefined>, found: (inbox: InboxOperator) => void): void {
    // Rejects at the end of the dev server.
    this.#looking = this.#look(find, found).catch(() => undefined);
  }

  see(event: DevEvent): void {
    this.#work?.see(event);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    this.#work?.close();
    await this.#inbox?.close();
  }

  async #look(find: () => Promise<string | undefined>, found: (inbox: InboxOperator) => void): Promise<void> {
    while (this.#inbox === undefined) {
      await sleep(this.#options.clock, LOOK_INTERVAL_MS, this.#stopping.signal);
      // The app may just be making it.
      const place = await find().catch(() => undefined);
      if (place !== undefined) await this.open(place).catch(() => undefined);
    }
    found(this.#inbox);
  }
}
