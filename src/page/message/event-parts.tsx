import type { ComponentChildren } from "preact";
import type { WholeEvent } from "../../web/api/event.js";
import { ContactEventList } from "./contact-event-list.js";
import { HandlerList } from "./handler-list.js";

interface EventPartsOptions {
  event: WholeEvent;
  /** Above the handlers. */
  head: ComponentChildren;
  /** Of its parts: one level below the title of what is open. */
  Heading: "h2" | "h3";
  children?: ComponentChildren;
}

/** What an event's handlers made of it, and the contact events that they recorded. */
export function EventParts({ event, head, Heading, children }: EventPartsOptions) {
  const { id, contactEvents, hasMoreContactEvents } = event;
  return (
    <>
      <section aria-label="Handlers">
        {head}
        <HandlerList event={event} />
      </section>
      <ContactEventList events={contactEvents} eventId={id} hasMore={hasMoreContactEvents} Heading={Heading} />
      {children}
    </>
  );
}
