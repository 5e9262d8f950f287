import { escapeControls, escapeControlsInLines } from "../../base/text.js";
import type { ContactEventRow } from "../../store/outbox.js";
import type { CallInFront } from "../../web/api/contact-events.js";
import type { WholeEvent } from "../../web/api/event.js";
import { linkTo } from "../state/address.js";
import { shortText } from "../text/format.js";
import { ContactStateBadge } from "../ui/badges.js";
import { Time } from "../ui/time.js";
import { LongText } from "./long-text.js";

/** Of a message, beside which there are others. */
const SHOWN = 2000;

interface ContactEventListOptions {
  /** What recorded them. */
  event: Pick<WholeEvent, "id" | "contactEvents" | "hasMoreContactEvents">;
  /** One level below the title of what is open. */
  Heading: "h2" | "h3";
}

/** The contact events that an event's handlers recorded, with what the API made of them; nothing without any. */
export function ContactEventList({
  event: { id, contactEvents, hasMoreContactEvents },
  Heading,
}: ContactEventListOptions) {
  if (contactEvents.length === 0) return null;
  return (
    <section aria-label="Contact events">
      <Heading>Contact events</Heading>
      <ul>
        {contactEvents.map((event) => {
          const why = event.state === "done" ? null : (event.message ?? event.error);
          return (
            <li key={event.key} class="handler">
              <div class="handler-head">
                <ContactStateBadge state={event.state} />
                <a href={linkTo("outbox", { key: event.key })}>{shortText(event.name)}</a>
                <span class="hint">{shortText(event.contact)}</span>
                <Time at={event.recordedAt} class="hint" />
                <RefusalTags event={event} />
              </div>
              <WaitsBehind call={event.waitsBehind} />
              {why !== null && <LongText text={escapeControlsInLines(why)} class="text error-text" shown={SHOWN} />}
            </li>
          );
        })}
      </ul>
      {hasMoreContactEvents && (
        <p>
          The newest {contactEvents.length} are shown. <a href={linkTo("outbox", { event: id })}>All of this event</a>
        </p>
      )}
    </section>
  );
}

/** The service's error code for a contact event, and the parameter that it names. */
export function RefusalTags({ event: { code, param } }: { event: Pick<ContactEventRow, "code" | "param"> }) {
  return (
    <>
      {[code, param].map((text) =>
        text === null || text === "" ? null : (
          <code class="tag" key={text}>
            {escapeControls(text)}
          </code>
        ),
      )}
    </>
  );
}

/** Why a contact event waits, in one line. */
export const describeWait = ({ error }: CallInFront): string => `waits behind a call that fails: ${error}`;

/** Why a contact event waits, with the call in front; nothing where it only waits for its turn. */
export function WaitsBehind({ call }: { call: CallInFront | null }) {
  if (call === null) return null;
  const { key, name, error, dueAt } = call;
  return (
    <p class="waits-behind">
      It waits behind the call of <a href={linkTo("outbox", { key })}>{shortText(name)}</a>, which fails:{" "}
      {escapeControls(error)}
      {dueAt !== null && <Time at={dueAt} before=". Next try " />}
    </p>
  );
}
