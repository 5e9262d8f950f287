import { useMemo } from "preact/hooks";
import { escapeControls, escapeControlsInLines } from "../../base/text.js";
import type { WholeContactEvent } from "../../web/api/contact-events.js";
import { BodyView } from "../message/body-view.js";
import { RefusalTags, WaitsBehind } from "../message/contact-event-list.js";
import { linkToEvent, setParams } from "../state/address.js";
import { mayOperate } from "../state/session.js";
import { formatExactTime, formatTime, plural, shortText } from "../text/format.js";
import { ActionButton } from "../ui/action-button.js";
import { ContactStateBadge } from "../ui/badges.js";
import { Button, CloseButton } from "../ui/button.js";
import { CopyFact } from "../ui/copy-button.js";
import { Icon } from "../ui/icon.js";
import { changeOutbox, mayDiscardContact, mayTryNow } from "./outbox-state.js";

/** One contact event: how far it is, why it failed, what the API answered, and what is sent. */
export function OutboxPane({ event }: { event: WholeContactEvent }) {
  const { key, idempotencyKey, state, inboxEventId, body } = event;
  const sent = useMemo(() => ({ encoding: "utf8" as const, data: body }), [body]);
  return (
    <section class="detail" aria-label="Contact event">
      <header class="detail-head">
        <div class="detail-title">
          <h2>{shortText(event.name)}</h2>
          <ContactStateBadge state={state} />
          <span class="spring" />
          <CloseButton onClick={() => setParams({ key: "" })} />
        </div>
        <p class="facts">
          <CopyFact
            text={idempotencyKey ?? key}
            what={idempotencyKey === null ? "its name on this dashboard" : "the idempotency key"}
          />
        </p>
        <div class="actions" role="toolbar" aria-label="Contact event">
          {mayOperate.value && state === "dead" && (
            <ActionButton action="retry" run={() => changeOutbox([key], "retry")} />
          )}
          {mayOperate.value && mayTryNow(event) && (
            <Button icon="replay" label="Try now" class="primary" run={() => changeOutbox([key], "retry")} />
          )}
          {mayOperate.value && mayDiscardContact(event) && (
            <ActionButton action="discard" run={() => changeOutbox([key], "discard")} />
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
        <Problem event={event} />
        <dl class="fact-list">
          {factsOf(event).map(([name, value, title]) => (
            <>
              <dt>{name}</dt>
              <dd title={title}>{value}</dd>
            </>
          ))}
        </dl>
        <h3>As sent</h3>
        <BodyView body={sent} label="Contact event as sent" />
      </div>
    </section>
  );
}

/** Why it is dead, or the error of the last try. */
function Problem({ event }: { event: WholeContactEvent }) {
  const { state, message, reason, error } = event;
  const why = state === "dead" ? (message ?? reason) : error;
  if (why === null) return null;
  return (
    <div class="contact-problem">
      <pre class="text error-text">{escapeControlsInLines(why)}</pre>
      <RefusalTags event={event} />
    </div>
  );
}

type Fact = [name: string, value: string, title?: string | undefined];

function factsOf(event: WholeContactEvent): Fact[] {
  const { contact, attempts, dueAt, recordedAt, occurredAt, settledAt, remoteId, callEvents } = event;
  const fact = <Of,>(name: string, of: Of | null, words: (of: Of) => string, title?: (of: Of) => string): Fact[] =>
    of === null ? [] : [[name, words(of), title?.(of)]];
  const time = (name: string, at: string | null) => fact(name, at, formatTime, formatExactTime);
  return [
    ["Contact", contact === "" ? "erased" : escapeControls(contact)],
    ["Attempts", String(attempts)],
    ...time("Next try", dueAt),
    ...time("Happened", occurredAt),
    ...time("Recorded", recordedAt),
    ...time(event.state === "dead" ? "Given up" : "Ended", settledAt),
    ...fact("Its call", callEvents, (n) => `May have arrived. A retry repeats it with ${plural(n, "event")}.`),
    ...fact("Id at the service", remoteId, escapeControls),
  ];
}
