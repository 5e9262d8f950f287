import { PigeonholeError } from "../base/error.js";
import type { Drainer } from "./drainer.js";
import type { OutboxSender } from "../outbox/outbox-sender.js";
import type { FiguresWriter } from "./figures-writer.js";
import type { DeliveryPath } from "./handle-delivery.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { Repairer } from "./repairer.js";
import type { ResolvedOptions } from "./options.js";
import type { Pruner } from "./pruner.js";
import type { StoreCounter } from "./store-counter.js";
import type { WorkWatch } from "./work-watch.js";

/** What is done in the store besides deliveries and their work. */
interface StoreParts {
  /** What people see and do in it. */
  operator: InboxOperator;
  counter: StoreCounter;
  pruner: Pruner;
  figures: FiguresWriter;
}

/** What reports problems that no single delivery shows. */
interface Watches {
  work: WorkWatch;
  /** Undefined without the option `repair`. */
  repairer: Repairer | undefined;
  /** Why the last start failed; undefined while none has, and during another one. */
  startError?: unknown;
}

/** The parts of a receiver. */
export interface ReceiverParts {
  options: ResolvedOptions;
  path: DeliveryPath;
  inStore: StoreParts;
  watches: Watches;
  drainer: Drainer;
  /** Undefined when no API is configured. */
  sender: OutboxSender | undefined;
}

const PARTS = new WeakMap<object, ReceiverParts>();

/** Makes the parts of a receiver known to the package, and to nobody outside. */
export function rememberParts(receiver: object, parts: ReceiverParts): void {
  PARTS.set(receiver, parts);
}

/** Undefined for what `createReceiver` of this copy of the package has not made. */
export function findParts(receiver: object): ReceiverParts | undefined {
  return PARTS.get(receiver);
}

/** Throws `invalid_argument` for what `createReceiver` of this copy of the package has not made. */
export function partsOf(receiver: object): ReceiverParts {
  const parts = findParts(receiver);
  if (parts !== undefined) return parts;
  throw new PigeonholeError(
    "invalid_argument",
    "This needs a receiver that createReceiver made, from the same installation of the package.",
  );
}
