import type { SchemaMap } from "pigeonhole";

/**
 * Zod schemas of `event.data`, by event type: `"email.received": z.object({ from: z.email() })`. They type the handlers
 * and are checked before one runs; what does not fit is kept and not lost. The service documents no shapes, so there
 * are none at first: `pigeonhole captures types --out src/webhooks/schemas.ts` writes this file from the deliveries
 * that `dev` has captured.
 */
export const schemas = {} as const satisfies SchemaMap;
