import type { SchemaMap } from "pigeonhole";
import * as z from "zod";

/**
 * Zod schemas of `event.data`, by event type. They type the handlers and are checked before one runs; what does not fit
 * is kept and not lost. The service documents no shapes, so a field is optional until deliveries have shown it:
 * `pigeonhole captures types --out src/webhooks/schemas.ts` writes this file from those that `dev` has captured.
 */
export const schemas = {
  "email.received": z.object({ messageId: z.string().optional() }),
} as const satisfies SchemaMap;
