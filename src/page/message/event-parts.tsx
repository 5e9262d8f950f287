import type { ComponentChildren } from "preact";
import type { WholeEvent } from "../../web/api/event.js";
import { linkToEvent } from "../state/address.js";
import { shortText } from "../ui/short-text.js";
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

/** What an event's handlers made of it, the contact events that they recorded, and other bodies under its id. */
export function EventParts({ event, head, Heading, children }: EventPartsOptions) {
  const { id, contactEvents, hasMoreContactEvents, otherBytes } = event;
  return (
    <>
      <section aria-label="Handlers">
        {head}
        <HandlerList event={event} />
      </section>
      <ContactEventList events={contactEvents} eventId={id} hasMore={hasMoreContactEvents} Heading={Heading} />
      {children}
      {otherBytes.length > 0 && (
        <section aria-label="Other bodies">
          <Heading>Other bodies under this id</Heading>
          <ul>
            {otherBytes.map((other) => (
              <li key={other}>
                <a href={linkToEvent(other)}>
                  <code>{shortText(other)}</code>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
