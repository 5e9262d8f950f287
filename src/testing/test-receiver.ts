import type { Changes } from "../base/options.js";
import { silentLogger } from "../base/logger.js";
import type { SchemaMap } from "../protocol/event.js";
import { createReceiver } from "../receiver/create-receiver.js";
import type { ReceiverOptions } from "../receiver/options.js";
import type { Receiver } from "../receiver/receiver.js";
import type { CommitTransaction } from "../store/commit-transaction.js";
import { TEST_SECRET } from "./deliver.js";

/**
 * A real receiver with an in-memory database, {@link TEST_SECRET} and no log. Options override these; a log has the
 * messages of handlers' errors.
 */
export function createTestReceiver<const Schemas extends SchemaMap = Record<never, never>, Tx = CommitTransaction>(
  options: Changes<ReceiverOptions<Schemas, Tx>> = {},
): Receiver<Schemas, Tx> {
  const { secrets = TEST_SECRET, store = ":memory:", logger = silentLogger, logErrorMessages = true } = options;
  return createReceiver<Schemas, Tx>({ ...options, secrets, store, logger, logErrorMessages });
}
