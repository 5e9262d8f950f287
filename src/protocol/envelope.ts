import * as z from "zod";
import { lazy } from "../base/lazy.js";

/**
 * Longest event id and event type kept as they are, in characters (Unicode code points); the service's documentation
 * shows none. A longer id is parked under its digest.
 */
export const MAX_EVENT_ID_LENGTH = 255;

/** A database does not return half a surrogate pair unchanged, so an id with one could not be found again. */
export const WHOLE_CHARACTERS = /^\P{Surrogate}*$/u;

/** What an event's `id` and `type` must be: 1 to 255 whole characters. */
const eventText = () =>
  z
    .string()
    .min(1)
    .check(({ value, issues }) => {
      if (isLong(value)) {
        issues.push({ code: "too_big", origin: "string", maximum: MAX_EVENT_ID_LENGTH, inclusive: true, input: value });
      }
    })
    .regex(WHOLE_CHARACTERS);

/** True for a value that can be the `id` or the `type` of an event. */
export function isEventText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !isLong(value) && WHOLE_CHARACTERS.test(value);
}

/** Counted here and not by zod, whose versions differ in what one character is. */
function isLong(text: string): boolean {
  if (text.length <= MAX_EVENT_ID_LENGTH) return false;
  return text.length > 2 * MAX_EVENT_ID_LENGTH || Array.from(text).length > MAX_EVENT_ID_LENGTH;
}

const TIME = { offset: true } as const;

/**
 * The fields every delivery carries after verification (docs/service.md#envelope). Further fields are accepted, so that
 * an addition by the service does not park its events.
 */
export const envelopeSchema = lazy(() =>
  z.object({
    id: eventText(),
    type: eventText(),
    createdAt: z.iso.datetime(TIME),
    // Not an object schema: that would copy what is only looked at.
    data: z.custom<Record<string, unknown>>(isJsonObject, "must be an object"),
  }),
);

/** The signed JSON of a delivery. */
export type Envelope = z.infer<ReturnType<typeof envelopeSchema>>;

const TIME_PATTERN = z.regexes.datetime(TIME);

/**
 * True for the JSON that {@link envelopeSchema} accepts, in a quarter of its time and without an object. Each delivery
 * is checked by this, and the schema says what is wrong where it is false; a test compares the two.
 */
export function isEnvelope(value: unknown): value is Envelope {
  if (!isJsonObject(value)) return false;
  const { id, type, createdAt, data } = value;
  const isTime = typeof createdAt === "string" && TIME_PATTERN.test(createdAt);
  return isTime && isEventText(id) && isEventText(type) && isJsonObject(data);
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
