import { useMemo } from "preact/hooks";
import { escapeControls, escapeControlsInLines } from "../../base/text.js";
import type { ContactEventRow } from "../../operator/inbox-rows.js";
import { BodyView } from "../message/body-view.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { RefusalTags } from "../message/refusal-tags.js";

interface ContactEventFactsOptions {
  event: ContactEventRow;
  /** JSON text as it is sent. */
  body: string;
}

/** Why a contact event failed, how far it is, and what is sent. */
export function ContactEventFacts({ event, body }: ContactEventFactsOptions) {
  const sent = useMemo(() => ({ encoding: "utf8" as const, data: body }), [body]);
  return (
    <>
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
    </>
  );
}

/** Why it is dead, or the error of the last try. */
function Problem({ event }: { event: ContactEventRow }) {
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

function factsOf(event: ContactEventRow): [name: string, value: string, title?: string][] {
  const { contact, attempts, dueAt, recordedAt, occurredAt, settledAt, remoteId, callEvents } = event;
  const time = (name: string, at: string | null): [string, string, string][] =>
    at === null ? [] : [[name, formatTime(at), formatExactTime(at)]];
  return [
    ["Contact", contact === "" ? "erased" : escapeControls(contact)],
    ["Attempts", String(attempts)],
    ...time("Next try", dueAt),
    ...time("Happened", occurredAt),
    ...time("Recorded", recordedAt),
    ...time(event.state === "dead" ? "Given up" : "Ended", settledAt),
    ...(callEvents === null
      ? []
      : [
          ["Its call", `May have arrived. A retry repeats it with ${plural(callEvents, "event")}.`] as [string, string],
        ]),
    ...(remoteId === null ? [] : [["Id at the service", escapeControls(remoteId)] as [string, string]]),
  ];
}
