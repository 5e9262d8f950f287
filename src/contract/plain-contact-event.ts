import { EVENT_LIMITS, EVENT_NAME } from "./event-limits.js";

/** The fields that nearly every event has, in the schema's order. */
export interface PlainContactEvent {
  name: string;
  email?: string;
  contactId?: string;
  properties?: Record<string, string | number | boolean | null>;
}

/** Addresses that are surely valid, within the 320 characters of the schema, and are kept as they are. */
const PLAIN_ADDRESS = /^[a-z0-9_.+-]{1,64}@[a-z0-9_.-]{1,255}$/;
/** Most bytes of JSON for one UTF-16 unit, for a number or a boolean, and for the punctuation around a property. */
const UNIT_BYTES = 6;
const SCALAR_BYTES = 25;
const MARKS_BYTES = 6;

/**
 * A fast check: a copy, with the same properties, of an event that surely fits the schema `contactEventInput`.
 * undefined leaves the decision to the schema. A test compares the two.
 */
export function readPlainContactEvent(event: unknown): PlainContactEvent | undefined {
  if (!isPlainContactEvent(event)) return undefined;
  const { name, email, contactId, properties } = event;
  const plain: PlainContactEvent = { name };
  if (email !== undefined) plain.email = email;
  if (contactId !== undefined) plain.contactId = contactId;
  if (properties !== undefined) plain.properties = properties;
  return plain;
}

function isPlainContactEvent(event: unknown): event is PlainContactEvent {
  if (!isPlainRecord(event)) return false;
  for (const field in event) {
    const value = event[field];
    if (field === "properties") {
      if (!areFlatProperties(value)) return false;
    } else if (typeof value !== "string" || (field !== "name" && field !== "email" && field !== "contactId")) {
      return false;
    }
  }
  const { name, email, contactId } = event as Partial<PlainContactEvent>;
  if (name === undefined || !EVENT_NAME.test(name)) return false;
  if (email === undefined ? contactId === undefined : !PLAIN_ADDRESS.test(email)) return false;
  return contactId === undefined || (contactId !== "" && contactId.length <= EVENT_LIMITS.contactIdLength);
}

function areFlatProperties(properties: unknown): boolean {
  if (!isPlainRecord(properties) || Object.getOwnPropertySymbols(properties).length > 0) return false;
  let count = 0;
  let maxBytes = MARKS_BYTES;
  for (const key in properties) {
    const value = properties[key];
    if (typeof value === "string") maxBytes += UNIT_BYTES * value.length;
    else if (value !== null && typeof value !== "boolean" && !Number.isFinite(value)) return false;
    count += 1;
    maxBytes += UNIT_BYTES * key.length + SCALAR_BYTES + MARKS_BYTES;
    if (key === "__proto__" || count > EVENT_LIMITS.propertyKeys || maxBytes > EVENT_LIMITS.propertyBytes) return false;
  }
  return true;
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
