import { randomUUID } from "node:crypto";
import type { Lease } from "#pigeonhole/store/work.js";
import { BODY_BYTES, EVENT_TYPE, HANDLER_NAME, createBodyTemplate, createdAtOf } from "../sample-delivery.js";
import { serveCalls } from "./child-calls.js";
import { openStoreCommands, type AcceptPlan } from "./store-commands.js";

export interface FillPlan {
  file: string;
  rows: number;
  /** What waits has bodies of the size of the load's; the others are empty objects. */
  work: "done" | "pending";
}

const ROWS_PER_TRANSACTION = 20_000;
const EMPTY_BODY = Buffer.from("{}");

const calls = {
  /**
   * Makes a file of ours with `rows` events and one handler's work on each. Ids are random, as those of the load are.
   */
  fill(plan: FillPlan): Promise<void> {
    const store = openStoreCommands(plan.file);
    const template = createBodyTemplate(BODY_BYTES);
    const startMs = Date.now();
    const createEvent = (place: number): AcceptPlan => {
      const id = randomUUID();
      let body = EMPTY_BODY;
      if (plan.work === "pending") {
        body = Buffer.from(template.body);
        body.write(id, template.idOffset, "latin1");
        body.write(createdAtOf(startMs, place), template.timeOffset, "latin1");
      }
      return { id, type: EVENT_TYPE, body, handlers: [HANDLER_NAME], leased: plan.work === "done" };
    };
    let done: Lease[] = [];
    for (let first = 0; first < plan.rows; first += ROWS_PER_TRANSACTION) {
      const length = Math.min(ROWS_PER_TRANSACTION, plan.rows - first);
      const accept = Array.from({ length }, (_, index) => createEvent(first + index));
      done = store.run({ accept, done });
    }
    store.run({ accept: [], done });
    store.close();
    return Promise.resolve();
  },
};

export type FillCalls = typeof calls;

serveCalls(calls);
