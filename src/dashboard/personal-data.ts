import { createHmac } from "node:crypto";
import type { Capture } from "../capture/model/capture.js";
import { fromInbox } from "../capture/model/from-inbox.js";
import { createFakeValues } from "../capture/redact/fake-values.js";
import { type RedactionRules, hideAddresses, redactValue } from "../capture/redact/redact-value.js";
import { createRedactor } from "../capture/redact/redactor.js";
import { SHARED_PROFILE } from "../capture/redact/redaction-profiles.js";
import type { ContactEventRow, InboxEvent } from "../dev/api/page-api.js";
import type { FailedRuns } from "../store/inbox-view.js";
import type { PayloadAccess, ShownPayload } from "./dashboard-api.js";

/** An event whose bytes are there. */
export interface EventBytes {
  id: string;
  type: string;
  receivedAt: number;
  body: Uint8Array;
}

/** Redacting takes the event loop, which deliveries need: larger payloads are shown once they are unveiled only. */
const MAX_REDACTED_BYTES = 128 * 1024;

/** Hides what is personal, with stand-ins that are the same in all processes of a store and in all answers. */
export class PersonalData {
  readonly #rules: RedactionRules;
  readonly #redact: (capture: Capture) => Capture;
  readonly #share: (capture: Capture) => Capture;

  constructor(secret: Uint8Array) {
    const key = createHmac("sha256", secret).update("stand-ins of the dashboard").digest();
    this.#rules = { fakes: createFakeValues(key), strict: false };
    this.#redact = createRedactor({ key });
    this.#share = createRedactor({ key, profile: SHARED_PROFILE });
  }

  /** A text that may quote a payload, such as an error, without the addresses in it. */
  text(text: string, rule: PayloadAccess): string {
    return rule === "full" ? text : hideAddresses(text, this.#rules);
  }

  event<Row extends InboxEvent>(row: Row, rule: PayloadAccess): Row {
    if (rule === "full") return row;
    const handlers = row.handlers.map((each) => {
      return { ...each, error: each.error === null ? null : this.text(each.error, rule) };
    });
    return { ...row, handlers };
  }

  failed({ first, last }: FailedRuns, rule: PayloadAccess): FailedRuns {
    return {
      first: { ...first, stack: this.text(first.stack, rule) },
      last: { ...last, stack: this.text(last.stack, rule) },
    };
  }

  contactEvent(row: ContactEventRow, rule: PayloadAccess): ContactEventRow {
    if (rule === "full") return row;
    const hide = (text: string | null): string | null => (text === null ? null : this.text(text, rule));
    return { ...row, contact: this.text(row.contact, rule), error: hide(row.error), message: hide(row.message) };
  }

  /** JSON of a contact event, as far as it may be shown. */
  contactEventBody(body: string, rule: PayloadAccess): string {
    if (rule === "full") return body;
    const { name, ...fields } = JSON.parse(body) as Record<string, unknown>;
    if (rule === "hidden") return JSON.stringify({ name });
    return JSON.stringify({ name, ...(redactValue(fields, "", this.#rules) as object) });
  }

  /** The payload without personal data, or why it is not shown. */
  payload(event: Omit<EventBytes, "body"> & { body: Uint8Array | undefined }, rule: PayloadAccess): ShownPayload {
    const { body } = event;
    const canUnveil = rule === "full" && body !== undefined;
    const bytes = body?.byteLength ?? null;
    if (body === undefined) return { kind: "gone", text: null, bytes, canUnveil };
    if (rule === "hidden") return { kind: "hidden", text: null, bytes, canUnveil };
    const text = this.redacted({ ...event, body });
    return text === undefined
      ? { kind: "too_large", text: null, bytes, canUnveil }
      : { kind: "redacted", text, bytes, canUnveil };
  }

  /** The payload's text without personal data; undefined for one that is too large. */
  redacted(event: EventBytes): string | undefined {
    if (event.body.byteLength > MAX_REDACTED_BYTES) return undefined;
    const { data, encoding } = this.#redact(fromInbox(event)).request.body;
    return encoding === "utf8" ? data : "";
  }

  /** A capture for others to see. */
  shared(event: EventBytes): Capture {
    return this.#share(fromInbox(event));
  }

  /** A capture for the app's own tests: exact where the person may see all, redacted otherwise. */
  fixture(event: EventBytes, rule: PayloadAccess): Capture {
    const capture = fromInbox(event);
    return rule === "full" ? capture : this.#redact(capture);
  }
}
