import type { FigureSeries, FiguresQuery } from "#pigeonhole/store/figures.js";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import type { StoreCounts } from "#pigeonhole/store/inbox-view.js";
import type { OutboxCounts } from "#pigeonhole/store/outbox.js";
import type { Store } from "#pigeonhole/store/store.js";

/** A time at which suites of stores begin. */
const BEGIN = 1_760_000_000_000;

/** What people see and do in an open store, at a time. */
export const operate = (store: Store<unknown>, now = BEGIN): InboxOperator => store.openOperator(() => now);

export const countWork = async (store: Store<unknown>, now: number): Promise<StoreCounts> =>
  (await operate(store, now).overview()).events;

export const countOutbox = async (store: Store<unknown>): Promise<OutboxCounts> =>
  (await operate(store).overview()).contactEvents;

/** Whether anything goes out again. */
export const retryOutbox = async (store: Store<unknown>, key: string, now: number): Promise<boolean> =>
  (await operate(store, now).changeContactEvent("retry", key)) > 0;

export const readFigures = (store: Store<unknown>, { range, now }: FiguresQuery): Promise<FigureSeries> =>
  operate(store, now).readFigures(range);

/** The part of a store that operates on it, with these calls in place of its own. */
export function operatedBy(
  store: Pick<Store, "openOperator">,
  change: (operator: InboxOperator) => Partial<InboxOperator>,
): Pick<Store, "openOperator"> {
  return {
    openOperator(now) {
      const operator = store.openOperator(now);
      return Object.assign(Object.create(operator), change(operator)) as InboxOperator;
    },
  };
}
