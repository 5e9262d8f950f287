import * as z from "zod";

/** Longest event id kept as it is; the documents show none. A longer one is parked under its digest. */
export const MAX_EVENT_ID_LENGTH = 255;

/** Half a character is no text that a database gives back as it was, so an id with one could not be found again. */
export const WHOLE_CHARACTERS = /^\P{Surrogate}*$/u;

/**
 * The fields every delivery carries after verification, seeds part 1 §6.2. Further fields are no fault, so that an
 * addition by the service does not park its events.
 */
export const envelopeSchema = z.object({
  id: z.string().min(1).max(MAX_EVENT_ID_LENGTH).regex(WHOLE_CHARACTERS),
  type: z.string().min(1).max(MAX_EVENT_ID_LENGTH),
  createdAt: z.iso.datetime({ offset: true }),
  // Not an object schema: that would copy what is only looked at.
  data: z.custom<Record<string, unknown>>(isJsonObject, "must be an object"),
});

function isJsonObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The signed JSON of a delivery. */
export type Envelope = z.infer<typeof envelopeSchema>;
