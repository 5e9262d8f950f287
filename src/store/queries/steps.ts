import { isoTime } from "../../base/iso-time.js";
import type { HandlerDetail } from "../inbox-view.js";
import type { SettleResult } from "../store.js";
import type { Lease } from "../work.js";
import { type StoreQuery, readRows, run } from "./store-query.js";

/** Reads the values of a handler's finished steps, as long as it is not done. */
export function* loadSteps({ seq, handler }: Pick<Lease, "seq" | "handler">): StoreQuery<Record<string, string>> {
  const steps = yield* readRows<{ name: string; value: string }>(
    "SELECT name, value FROM pigeonhole.inbox_step WHERE seq = :seq AND handler = :handler AND value <> ''",
    { seq, handler },
  );
  return Object.fromEntries(steps.map(({ name, value }) => [name, value]));
}

/** Reads the names and times of an event's finished steps, by handler, for people; oldest first. */
export function* readKeptSteps(seq: number): StoreQuery<(handler: string) => HandlerDetail["steps"]> {
  const steps = yield* readRows<{ handler: string; name: string; at: number }>(
    "SELECT handler, name, saved_at AS at FROM pigeonhole.inbox_step WHERE seq = :seq ORDER BY saved_at, name",
    { seq },
  );
  return (handler) =>
    steps.filter((step) => step.handler === handler).map(({ name, at }) => ({ name, at: isoTime(at) }));
}

/** Keeps the value of a finished step, while the lease holds. The first value of a name stays. */
export function* saveStep(step: { lease: Lease; name: string; value: string; at: number }): StoreQuery<SettleResult> {
  const { lease, name, value, at } = step;
  const kept = yield* run(
    `INSERT INTO pigeonhole.inbox_step (seq, handler, name, value, saved_at)
     SELECT seq, handler, :name, :value, :at::bigint FROM pigeonhole.inbox_work
     WHERE seq = :seq AND handler = :handler AND lease = :token
     ON CONFLICT (seq, handler, name) DO UPDATE
       SET value = CASE inbox_step.value WHEN '' THEN excluded.value ELSE inbox_step.value END`,
    { ...lease, name, value, at },
  );
  return kept === 1 ? "settled" : "lost";
}
