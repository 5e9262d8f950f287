import type { EventType } from "../../protocol/event-types.js";
import { SAMPLE_DOMAIN, SAMPLE_RECORDS, SAMPLE_TIMES, type SampleStory } from "./sample-story.js";

/*
 * No `data` of any event type is documented (docs/service.md#event-data), so every shape here is ASSUMED. Field names
 * follow the resources that the service's documentation shows: drafts (to, cc, subject, threadId, attachments), files
 * (direction, usage, deletable, deliveredTo), forms (audienceIds, doubleOptIn, outcome), lanes (stream), record checks
 * (checks of id, status, record). The form of message and thread identifiers is not documented.
 */

/** Fields shared by all events about a message that this workspace sends. */
function outgoing(story: SampleStory) {
  return {
    messageId: `msg_${story.id("message")}`,
    threadId: `thr_${story.id("thread")}`,
    from: story.workspaceAddress,
    to: [story.person.address],
    cc: ["accounts@customer.example.com"],
    bcc: [] as string[],
    subject: story.subject,
    stream: "transactional",
    tags: { order: story.order },
  };
}

/** Fields shared by all events about one recipient of such a message. */
function toRecipient(story: SampleStory) {
  return { ...outgoing(story), recipient: story.person.address };
}

/** Fields shared by all events about a received message. */
function incoming(story: SampleStory) {
  return {
    messageId: `msg_${story.id("message")}`,
    threadId: `thr_${story.id("thread")}`,
    from: story.person.address,
    to: [story.workspaceAddress],
    cc: [] as string[],
    subject: story.question,
    text: `Hello,\n\nmy order #${story.order} has not come yet. Could you have a look?\n\n${story.person.name}`,
    html: `<p>Hello,</p><p>my order #${story.order} has not come yet. Could you have a look?</p><p>${story.person.name}</p>`,
    attachments: [{ filename: "receipt.pdf", contentType: "application/pdf", size: 48_213 }],
    receivedAt: story.at(SAMPLE_TIMES.before),
  };
}

function visit(story: SampleStory) {
  return {
    ...toRecipient(story),
    ip: "192.0.2.44",
    userAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15",
  };
}

function domain(story: SampleStory) {
  return { domainId: `dom_${story.id("domain")}`, domain: SAMPLE_DOMAIN };
}

function suppression({ person }: SampleStory, reason: "bounce" | "complaint" | "manual") {
  return { email: person.address, reason, stream: "broadcast" };
}

function upload(story: SampleStory) {
  return {
    id: `file_${story.id("file")}`,
    direction: "uploaded",
    usage: null,
    deletable: true,
    deliveredTo: null,
    filename: "price-list.pdf",
    contentType: "application/pdf",
    size: 182_044,
  };
}

function signUp(story: SampleStory) {
  return {
    formId: `frm_${story.id("form")}`,
    formName: "Newsletter",
    email: story.person.address,
    answers: { email: story.person.address, name: story.person.name, topics: ["product", "events"], consent: true },
    audienceIds: [`aud_${story.id("audience")}`],
    doubleOptIn: true,
    source: "https://www.example.com/newsletter",
  };
}

/** One builder of sample data per event type. All shapes are assumed. Times are close to the event's own. */
export const SAMPLE_DATA = {
  "email.received": incoming,
  "email.sent": (story: SampleStory) => ({ ...outgoing(story), sentAt: story.at(SAMPLE_TIMES.before) }),
  "email.failed": (story: SampleStory) => ({
    ...outgoing(story),
    error: { code: "attachment_missing", message: "An attachment could not be read." },
  }),
  "email.cancelled": (story: SampleStory) => ({ ...outgoing(story), scheduledAt: story.at(SAMPLE_TIMES.nextDay) }),
  "email.scheduled": (story: SampleStory) => ({ ...outgoing(story), scheduledAt: story.at(SAMPLE_TIMES.nextDay) }),
  "email.queued": outgoing,
  "email.delivered": (story: SampleStory) => ({ ...toRecipient(story), response: "250 2.0.0 Ok: queued as 4VxQ2" }),
  "email.delivery_delayed": (story: SampleStory) => ({
    ...toRecipient(story),
    attempts: 2,
    code: "4.2.2",
    diagnostic: "452 4.2.2 Mailbox full",
    nextAttemptAt: story.at(SAMPLE_TIMES.soon),
  }),
  "email.bounced": (story: SampleStory) => ({
    ...toRecipient(story),
    bounce: { kind: "hard", code: "5.1.1", diagnostic: "550 5.1.1 User unknown" },
  }),
  "email.complained": (story: SampleStory) => ({ ...toRecipient(story), complaint: { kind: "abuse" } }),
  "email.suppressed": (story: SampleStory) => ({ ...toRecipient(story), reason: "bounce" }),
  "email.opened": visit,
  "email.clicked": (story: SampleStory) => ({ ...visit(story), url: `https://www.example.com/orders/${story.order}` }),
  "email.downloaded": (story: SampleStory) => ({
    ...visit(story),
    fileId: `file_${story.id("file")}`,
    linkId: `shr_${story.id("link")}`,
    filename: `invoice-${story.order}.pdf`,
  }),
  "email.replied": (story: SampleStory) => ({ ...incoming(story), inReplyTo: `msg_${story.id("first message")}` }),
  "domain.verified": (story: SampleStory) => ({
    ...domain(story),
    records: [
      { id: "mx", name: SAMPLE_DOMAIN, record: `10 ${SAMPLE_RECORDS.mx}`, status: "pass" },
      { id: "spf", name: SAMPLE_DOMAIN, record: SAMPLE_RECORDS.spf, status: "pass" },
      { id: "dkim", name: `svc._domainkey.${SAMPLE_DOMAIN}`, record: SAMPLE_RECORDS.dkim, status: "pass" },
    ],
  }),
  "domain.sending_changed": (story: SampleStory) => ({
    ...domain(story),
    sending: false,
    previous: true,
    reason: "dkim_missing",
  }),
  "domain.deleted": domain,
  "suppression.added": (story: SampleStory) => suppression(story, "bounce"),
  "suppression.removed": (story: SampleStory) => suppression(story, "manual"),
  "file.uploaded": upload,
  "file.deleted": upload,
  "form.submitted": (story: SampleStory) => ({ ...signUp(story), outcome: "pending" }),
  "form.confirmed": (story: SampleStory) => ({
    ...signUp(story),
    outcome: "added",
    confirmedAt: story.at(SAMPLE_TIMES.before),
  }),
} satisfies Record<EventType, (story: SampleStory) => object>;

/** The assumed `data` of each event type. */
export type SampleData = { [T in EventType]: ReturnType<(typeof SAMPLE_DATA)[T]> };
