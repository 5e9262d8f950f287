/** Secret of all contestants; svix reads the base64 after the prefix as its key, the others the whole string. */
export const SECRET = `whsec_${Buffer.from("pigeonhole benchmark secret, 32b").toString("base64")}`;

/** Path that takes the deliveries at every contestant; the prototype knows no other. */
export const HOOK_PATH = "/hook";
export const DASHBOARD_PATH = "/ops";

/** Length of an event id in the sample. */
export const EVENT_ID_LENGTH = 36;

/** Event type in the body, and the one our handlers listen to. */
export const EVENT_TYPE = "email.received";

/** Name of the handler that is registered for it. */
export const HANDLER_NAME = "bench";

/** Size of the body of the HTTP measurements. */
export const BODY_BYTES = 4096;

const BLANK_ID = "0".repeat(EVENT_ID_LENGTH);
const BLANK_TIME = new Date(0).toISOString();

/** About as many as are taken in a millisecond. */
const EVENTS_PER_MS = 10;

/** One item as text is of this length at the most. */
const ITEM_BYTES = 160;

function createItems(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `att_${String(index).padStart(8, "0")}`,
    filename: `invoice-2026-${String(index).padStart(4, "0")}.pdf`,
    size: 18_231 + index * 977,
    pages: (index % 17) + 1,
    score: 0.19,
    scanned: { startedAt: 1_700_000_000 + index, endedAt: 1_700_000_060 + index },
  }));
}

/**
 * JSON of a received mail of exactly `bytes` bytes, about 24 small items in 4 KB and in proportion otherwise: most of
 * it is structure, so that parsing it costs what it costs for real events. It is ASCII. The event id is blank;
 * `idOffset` says where it goes, and `timeOffset` where the time goes.
 */
export function createBodyTemplate(bytes: number): { body: Buffer; idOffset: number; timeOffset: number } {
  const data = {
    messageId: "<4f6c1a52@mail.example>",
    from: { name: "Ada Example", address: "ada@sender.example" },
    to: [{ name: "Support", address: "support@receiver.example" }],
    subject: "Your invoices of last month",
    items: createItems(Math.max(1, Math.floor((bytes - 420) / ITEM_BYTES))),
    text: "",
  };
  const event = { id: BLANK_ID, type: EVENT_TYPE, createdAt: BLANK_TIME, data };
  const missing = bytes - Buffer.byteLength(JSON.stringify(event));
  if (missing < 0) throw new Error(`a sample event does not fit in ${bytes} bytes`);
  data.text = "lorem ipsum ".repeat(Math.ceil(missing / 12)).slice(0, missing);
  const body = Buffer.from(JSON.stringify(event));
  return { body, idOffset: body.indexOf(BLANK_ID), timeOffset: body.indexOf(BLANK_TIME) };
}

/** `createdAt` of the event at that place among those of `startMs`: it rises as that of a busy service does. */
export function createdAtOf(startMs: number, place: number): string {
  return new Date(startMs + Math.floor(place / EVENTS_PER_MS)).toISOString();
}
