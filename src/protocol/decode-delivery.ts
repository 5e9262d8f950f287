import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { checkData, describeIssues } from "./check-data.js";
import { envelopeSchema, isEnvelope, isEventText } from "./envelope.js";
import type { AnyEvent, SchemaMap } from "./event.js";
import { isEventType } from "./event-types.js";
import type { ParkReason } from "./outcome.js";
import type { VerifiedRequest } from "./verify-request.js";
import { isTestDelivery } from "./test-delivery.js";
import { rawEventId } from "./raw-event-id.js";
import { UNDECODABLE_TEXTS } from "./undecodable-texts.js";

/** What a verified request turned out to be. */
export type Delivery =
  | { kind: "event"; id: string; event: AnyEvent }
  /** Genuine but not understood. `detail` names fields and rules, never values. */
  | { kind: "undecodable"; id: string; type: string; test: boolean; reason: ParkReason; detail: string };

/** Reads the event out of verified bytes. Never throws: what cannot be read is returned as `undecodable`. */
export function decodeDelivery(request: VerifiedRequest, schemas: SchemaMap): Delivery {
  const json = parseJson(request.body);
  if (!json.ok) return { ...unread(request.body), reason: "not_json", detail: json.detail };

  if (!isEnvelope(json.value)) {
    const { id, type, test } = readWhatIsThere(json.value);
    const { error } = envelopeSchema().safeParse(json.value);
    const detail = error === undefined ? "" : describeIssues(error.issues, envelopeSchema());
    return { ...unread(request.body), ...(id === undefined ? {} : { id }), type, test, reason: "bad_envelope", detail };
  }

  const { id, type, createdAt, data } = json.value;
  const test = isTestDelivery(type, data);
  // The service's test delivery is an email.sent in name only: its data has a note and no email, so no schema applies.
  const schema = !test && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) {
    return {
      kind: "event",
      id,
      event: { id, type, createdAt, data, test, known: isEventType(type) || Object.hasOwn(schemas, type) },
    };
  }
  const checked = checkData(schema, data);
  if (!checked.ok) return { kind: "undecodable", id, type, test, reason: "bad_data", detail: checked.detail };
  return { kind: "event", id, event: { id, type, createdAt, data: checked.data, test, known: true } };
}

function parseJson(body: Uint8Array): { ok: true; value: unknown } | { ok: false; detail: string } {
  // Decoding would replace bad bytes silently, and the event would differ from what was signed.
  if (!isUtf8(body)) return { ok: false, detail: UNDECODABLE_TEXTS.notUtf8 };
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    // The parser's own message quotes the body.
    return { ok: false, detail: UNDECODABLE_TEXTS.notJson };
  }
}

function unread(body: Uint8Array): { kind: "undecodable"; id: string; type: string; test: boolean } {
  const id = rawEventId(createHash("sha256").update(body).digest("hex"));
  return { kind: "undecodable", id, type: "", test: false };
}

/** What can still be used of JSON that is not a valid envelope. */
function readWhatIsThere(value: unknown): { id: string | undefined; type: string; test: boolean } {
  if (typeof value !== "object" || value === null) return { id: undefined, type: "", test: false };
  const { id, type, data } = value as Record<string, unknown>;
  return {
    id: isEventText(id) ? id : undefined,
    type: isEventText(type) ? type : "",
    test: isTestDelivery(type, data),
  };
}
