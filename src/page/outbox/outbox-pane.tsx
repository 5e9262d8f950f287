import type { WholeContactEvent } from "../../web/api/contact-events.js";
import { ContactEventFacts } from "./contact-event-facts.js";
import { ContactStateBadge } from "../ui/badges.js";
import { CloseButton } from "../ui/icon-button.js";
import { CopyFact } from "../ui/copy-fact.js";
import { Icon } from "../ui/icon.js";
import { linkToEvent, setParams } from "../state/address.js";
import { mayOperate } from "../state/session.js";
import { changeOutbox, mayDiscardContact, mayTryNow } from "./outbox-state.js";
import { shortText } from "../ui/short-text.js";
import { WaitsBehind } from "../message/waits-behind.js";

/** One contact event: how far it is, why it failed, what the API answered, and what is sent. */
export function OutboxPane({ event }: { event: WholeContactEvent }) {
  const { key, idempotencyKey, state, inboxEventId } = event;
  return (
    <section class="detail" aria-label="Contact event">
      <header class="detail-head">
        <div class="detail-title">
          <h2>{shortText(event.name)}</h2>
          <ContactStateBadge state={event.state} />
          <span class="spring" />
          <CloseButton onClick={() => setParams({ key: "" })} />
        </div>
        <p class="facts">
          {idempotencyKey === null ? (
            <CopyFact text={key} what="its name on this dashboard" />
          ) : (
            <CopyFact text={idempotencyKey} what="the idempotency key" />
          )}
        </p>
        <div class="actions" role="toolbar" aria-label="Contact event">
          {mayOperate.value && state === "dead" && (
            <button type="button" class="button primary" onClick={() => void changeOutbox([key], "retry")}>
              <Icon name="replay" /> Retry
            </button>
          )}
          {mayOperate.value && mayTryNow(event) && (
            <button type="button" class="button primary" onClick={() => void changeOutbox([key], "retry")}>
              <Icon name="replay" /> Try now
            </button>
          )}
          {mayOperate.value && mayDiscardContact(event) && (
            <button type="button" class="button danger" onClick={() => void changeOutbox([key], "discard")}>
              <Icon name="trash" /> Discard
            </button>
          )}
          {inboxEventId !== null && (
            <a class="button" href={linkToEvent(inboxEventId)}>
              <Icon name="inbox" /> Event that recorded it
            </a>
          )}
        </div>
      </header>
      <div class="detail-body" tabIndex={0} role="region" aria-label="Facts">
        <WaitsBehind call={event.waitsBehind} />
        <ContactEventFacts event={event} body={event.body} />
      </div>
    </section>
  );
}
