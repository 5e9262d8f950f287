import type { ComponentChildren } from "preact";
import type { InboxOverview } from "../../dev/api/page-api.js";
import { ContactStateBadge, StateBadge } from "../ui/badges.js";
import { formatCount } from "../ui/format.js";
import { inboxState, inboxTab, showInbox } from "./inbox-state.js";

const ALL = <span class="hint">all</span>;

const EVENT_STATES = ["pending", "leased", "done", "parked", "dead"] as const;
const CONTACT_STATES = ["pending", "leased", "done", "dead"] as const;

/** The number in each state. A click shows the list. */
export function StateCounts({ overview }: { overview: InboxOverview }) {
  return (
    <div class="counts">
      <section aria-label="Events">
        <h2>Events in</h2>
        <div class="count-row">
          <Count tab="events" state="" label={ALL} value={overview.events.all} />
          {EVENT_STATES.map((state) => (
            <Count
              key={state}
              tab="events"
              state={state}
              label={<StateBadge state={state} />}
              value={overview.events[state]}
            />
          ))}
        </div>
      </section>
      <section aria-label="Contact events">
        <h2>Contact events out</h2>
        <div class="count-row">
          <Count tab="contact-events" state="" label={ALL} value={overview.contactEvents.all} />
          {CONTACT_STATES.map((state) => (
            <Count
              key={state}
              tab="contact-events"
              state={state}
              label={<ContactStateBadge state={state} />}
              value={overview.contactEvents[state]}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

interface CountOptions {
  tab: "events" | "contact-events";
  state: string;
  label: ComponentChildren;
  value: number;
}

function Count({ tab, state, label, value }: CountOptions) {
  const isShown = tab === inboxTab.value && state === inboxState.value;
  return (
    <button type="button" class="count" aria-pressed={isShown} onClick={() => showInbox(tab, state)}>
      <b>{formatCount(value)}</b>
      {label}
    </button>
  );
}
