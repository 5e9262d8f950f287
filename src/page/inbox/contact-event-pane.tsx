import { escapeControls } from "../../base/text.js";
import type { ContactEventDetail, ContactEventRow } from "../../dev/api/page-api.js";
import { BodyView } from "../message/body-view.js";
import { goTo } from "../state/address.js";
import { ContactEventBadge } from "../ui/badges.js";
import { FactTable } from "../ui/fact-table.js";
import { CloseButton } from "../ui/close-button.js";
import { CopyFact } from "../ui/copy-fact.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { ContactEventButtons } from "./contact-event-buttons.js";
import { closeRow, contactEventRows } from "./inbox-state.js";
import { RefusalTags } from "./refusal-tags.js";

/** One contact event of the outbox: how far it is, why it failed, and what is sent. */
export function ContactEventPane({ loaded }: { loaded: ContactEventDetail }) {
  // The list is loaded again while the event is open.
  const event = contactEventRows.value.find(({ key }) => key === loaded.key) ?? loaded;
  const { key, inboxEventId } = event;
  return (
    <section class="detail" aria-label="Contact event">
      <header class="detail-head">
        <div class="detail-title">
          <h2>{escapeControls(event.name)}</h2>
          <ContactEventBadge event={event} />
          <span class="spring" />
          <CloseButton onClick={closeRow} />
        </div>
        <p class="facts">
          <CopyFact text={key} what="the idempotency key" />
        </p>
        <div class="actions" role="toolbar" aria-label="Contact event">
          <ContactEventButtons event={event} />
          {inboxEventId === null ? (
            <span class="hint">No event of the inbox is known to have recorded it.</span>
          ) : (
            <button type="button" class="button" onClick={() => goTo("inbox", { event: inboxEventId })}>
              <Icon name="inbox" /> Open the event that recorded it
            </button>
          )}
        </div>
      </header>
      <div class="detail-body">
        <Problem event={event} />
        <FactTable label="Contact event" facts={factsOf(event)} />
        <h3>As sent</h3>
        <BodyView body={{ encoding: "utf8", data: loaded.body }} label="Contact event as sent" />
      </div>
    </section>
  );
}

/** Why it is dead, or the error of the last try. */
function Problem({ event }: { event: ContactEventRow }) {
  const { state, message, reason, error } = event;
  const why = state === "dead" ? (message ?? reason) : error;
  if (why === null) return null;
  return (
    <div class="contact-problem">
      <pre class="text error-text">{why}</pre>
      <RefusalTags event={event} />
    </div>
  );
}

function factsOf(event: ContactEventRow): [name: string, value: string, title?: string][] {
  const { contact, attempts, dueAt, recordedAt, occurredAt, settledAt, remoteId } = event;
  const time = (name: string, at: string | null): [string, string, string][] =>
    at === null ? [] : [[name, formatTime(at), formatExactTime(at)]];
  return [
    ["Contact", contact === "" ? "erased" : escapeControls(contact)],
    ["Attempts", String(attempts)],
    ...time("Next try", dueAt),
    ...time("Happened", occurredAt),
    ...time("Recorded", recordedAt),
    ...time(event.state === "dead" ? "Given up" : "Ended", settledAt),
    ...(remoteId === null ? [] : [["Id at the service", escapeControls(remoteId)] as [string, string]]),
  ];
}
