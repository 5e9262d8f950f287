import type { EventMatching, EventType } from "pigeonhole";
import type { schemas } from "./schemas.js";

/** The event that a handler of this type gets; `data` is typed by its schema, where there is one. */
export type WebhookEvent<Type extends EventType> = EventMatching<typeof schemas, Type>;
