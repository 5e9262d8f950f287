import { errorFields } from "../base/error-fields.js";
import { isPigeonholeError } from "../base/error.js";
import type { Logger } from "../base/logger.js";
import type { Store } from "../store/store.js";
import type { HandlerRegistry } from "./registry.js";

/** Keeps each handler's retry policy in the store, where it is shown with its work. Never rejects: nothing needs it. */
export async function keepPolicies(deps: {
  store: Store<unknown>;
  registry: HandlerRegistry;
  logger: Logger;
}): Promise<void> {
  const { store, registry, logger } = deps;
  try {
    await store.keepPolicies(registry.all.map(({ name, retry: { maxAttempts } }) => ({ handler: name, maxAttempts })));
  } catch (error) {
    if (isPigeonholeError(error, "stopped")) return;
    logger.warn(errorFields(error, true), "policies_not_kept");
  }
}
