import { escapeControls } from "../../base/text.js";
import type { ContactEventDetail, ContactEventRow } from "../../dev/api/page-api.js";
import { goTo } from "../state/address.js";
import { ContactEventBadge } from "../ui/badges.js";
import { CloseButton } from "../ui/close-button.js";
import { CopyFact } from "../ui/copy-fact.js";
import { Icon } from "../ui/icon.js";
import { ContactEventFacts } from "./contact-event-facts.js";
import { closeRow, contactEventRows } from "./inbox-state.js";
import { changeRows } from "./inbox-selection.js";

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
        <ContactEventFacts event={event} body={loaded.body} />
      </div>
    </section>
  );
}

/** Retry for what is dead, Discard for what is dead or not part of a call yet. */
function ContactEventButtons({ event: { key, state } }: { event: ContactEventRow }) {
  return (
    <>
      {state === "dead" && (
        <button type="button" class="button primary" onClick={() => void changeRows([key], "retry")}>
          <Icon name="replay" /> Retry
        </button>
      )}
      {(state === "dead" || state === "pending") && (
        <button type="button" class="button danger" onClick={() => void changeRows([key], "discard")}>
          <Icon name="trash" /> Discard
        </button>
      )}
    </>
  );
}
