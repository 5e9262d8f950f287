import type { EventType } from "../protocol/event-types.js";

/** Makes an identifier of 24 hex digits, the same one for the same label within one sample. */
export type MakeId = (label: string) => string;

/*
 * The documents show no `data` of any event type (seeds part 1 §6.6), so every shape here is ASSUMED. Field names follow
 * the resources that the documents do show: drafts (to, cc, subject, threadId, attachments), files (direction, usage,
 * deletable, deliveredTo), forms (audienceIds, doubleOptIn, outcome), lanes (stream), record checks (checks of id, status,
 * record). Identifiers of messages and threads have no shown shape.
 */

const workspaceAddress = "support@acme.example.com";
const personAddress = "ada@customer.example.com";

/** Fields shared by all events about a message that this workspace sends. */
function outgoing(id: MakeId) {
  return {
    messageId: `msg_${id("message")}`,
    threadId: `thr_${id("thread")}`,
    from: workspaceAddress,
    to: [personAddress],
    cc: ["accounts@customer.example.com"],
    bcc: [] as string[],
    subject: "Your order #1042 is on its way",
    stream: "transactional",
    tags: { order: "1042" },
  };
}

/** Fields shared by all events about one recipient of such a message. */
function toRecipient(id: MakeId) {
  return { ...outgoing(id), recipient: personAddress };
}

/** Fields shared by all events about a message that came in. */
function incoming(id: MakeId) {
  return {
    messageId: `msg_${id("message")}`,
    threadId: `thr_${id("thread")}`,
    from: personAddress,
    to: [workspaceAddress],
    cc: [] as string[],
    subject: "Where is my order?",
    text: "Hello,\n\nmy order #1042 has not come yet. Could you have a look?\n\nAda",
    html: "<p>Hello,</p><p>my order #1042 has not come yet. Could you have a look?</p><p>Ada</p>",
    attachments: [{ filename: "receipt.pdf", contentType: "application/pdf", size: 48_213 }],
    receivedAt: "2026-01-01T08:59:58.000Z",
  };
}

function visit(id: MakeId) {
  return {
    ...toRecipient(id),
    ip: "192.0.2.44",
    userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15",
  };
}

function domain(id: MakeId) {
  return { domainId: `dom_${id("domain")}`, domain: "acme.example.com" };
}

function suppression(reason: "bounce" | "complaint" | "manual") {
  return { email: personAddress, reason, stream: "broadcast" };
}

function upload(id: MakeId) {
  return {
    id: `file_${id("file")}`,
    direction: "uploaded",
    usage: null,
    deletable: true,
    deliveredTo: null,
    filename: "price-list.pdf",
    contentType: "application/pdf",
    size: 182_044,
  };
}

function signUp(id: MakeId) {
  return {
    formId: `frm_${id("form")}`,
    formName: "Newsletter",
    email: personAddress,
    answers: { email: personAddress, name: "Ada Example", topics: ["product", "events"], consent: true },
    audienceIds: [`aud_${id("audience")}`],
    doubleOptIn: true,
    source: "https://www.example.com/newsletter",
  };
}

/** One builder of sample data per event type. All shapes are assumed. */
export const SAMPLE_DATA = {
  "email.received": incoming,
  "email.sent": (id: MakeId) => ({ ...outgoing(id), sentAt: "2026-01-01T09:00:01.000Z" }),
  "email.failed": (id: MakeId) => ({
    ...outgoing(id),
    error: { code: "attachment_missing", message: "An attachment could not be read." },
  }),
  "email.cancelled": (id: MakeId) => ({ ...outgoing(id), scheduledAt: "2026-01-02T09:00:00.000Z" }),
  "email.scheduled": (id: MakeId) => ({ ...outgoing(id), scheduledAt: "2026-01-02T09:00:00.000Z" }),
  "email.queued": outgoing,
  "email.delivered": (id: MakeId) => ({ ...toRecipient(id), response: "250 2.0.0 Ok: queued as 4VxQ2" }),
  "email.delivery_delayed": (id: MakeId) => ({
    ...toRecipient(id),
    attempts: 2,
    code: "4.2.2",
    diagnostic: "452 4.2.2 Mailbox full",
    nextAttemptAt: "2026-01-01T09:30:00.000Z",
  }),
  "email.bounced": (id: MakeId) => ({
    ...toRecipient(id),
    bounce: { kind: "hard", code: "5.1.1", diagnostic: "550 5.1.1 User unknown" },
  }),
  "email.complained": (id: MakeId) => ({ ...toRecipient(id), complaint: { kind: "abuse" } }),
  "email.suppressed": (id: MakeId) => ({ ...toRecipient(id), reason: "bounce" }),
  "email.opened": visit,
  "email.clicked": (id: MakeId) => ({ ...visit(id), url: "https://www.example.com/orders/1042" }),
  "email.downloaded": (id: MakeId) => ({
    ...visit(id),
    fileId: `file_${id("file")}`,
    linkId: `shr_${id("link")}`,
    filename: "invoice-1042.pdf",
  }),
  "email.replied": (id: MakeId) => ({ ...incoming(id), inReplyTo: `msg_${id("first message")}` }),
  "domain.verified": (id: MakeId) => ({
    ...domain(id),
    records: [
      { id: "mx", name: "acme.example.com", record: "10 inbound.mail.example.net", status: "pass" },
      { id: "spf", name: "acme.example.com", record: "v=spf1 include:mail.example.net -all", status: "pass" },
      { id: "dkim", name: "svc._domainkey.acme.example.com", record: "v=DKIM1; k=rsa; p=MIIB", status: "pass" },
    ],
  }),
  "domain.sending_changed": (id: MakeId) => ({ ...domain(id), sending: false, previous: true, reason: "dkim_missing" }),
  "domain.deleted": domain,
  "suppression.added": () => suppression("bounce"),
  "suppression.removed": () => suppression("manual"),
  "file.uploaded": upload,
  "file.deleted": upload,
  "form.submitted": (id: MakeId) => ({ ...signUp(id), outcome: "pending" }),
  "form.confirmed": (id: MakeId) => ({ ...signUp(id), outcome: "added", confirmedAt: "2026-01-01T09:04:12.000Z" }),
} satisfies Record<EventType, (id: MakeId) => object>;

/** The assumed `data` of each event type. */
export type SampleData = { [T in EventType]: ReturnType<(typeof SAMPLE_DATA)[T]> };
