import { escapeControls } from "../../base/text.js";
import type { SandboxDelivery } from "../../dev/sandbox/sandbox-state.js";
import { AdvanceButton } from "../detail/advance-button.js";
import { AttemptDots } from "../detail/attempt-dots.js";
import { attemptLine } from "../detail/sandbox-attempts.js";
import { Icon, type IconName } from "../ui/icon.js";
import { plural } from "../ui/format.js";

/** The sandbox's deliveries with their attempts, also of events that never arrived here. */
export function DeliveryRows({ deliveries }: { deliveries: readonly SandboxDelivery[] }) {
  if (deliveries.length === 0) return <p class="nothing">No delivery yet. Fire an event, or use the API.</p>;
  return (
    <ul class="sandbox-rows sandbox-deliveries" tabIndex={0} aria-label="Deliveries, newest first">
      {deliveries.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} />
      ))}
    </ul>
  );
}

function Row({ delivery }: { delivery: SandboxDelivery }) {
  const { eventId, eventType, attempts, coming } = delivery;
  const { word, tone, icon } = faceOf(delivery);
  return (
    <li>
      <span class={`badge ${tone}`}>
        <Icon name={icon} />
        <span class="badge-word">{word}</span>
      </span>
      <b>{escapeControls(eventType)}</b>
      <code class="hint sandbox-text">{escapeControls(eventId)}</code>
      <span class="hint">{plural(attempts.length, "attempt")} so far</span>
      {attempts.length + coming.length > 1 && <AttemptDots line={attemptLine(delivery)} />}
      {attempts.length > 0 && coming.length > 0 && <AdvanceButton eventId={eventId} />}
    </li>
  );
}

function faceOf({ attempts, coming }: SandboxDelivery): { word: string; tone: string; icon: IconName } {
  if (coming.length > 0) {
    return attempts.length === 0
      ? { word: "on its way", tone: "mute", icon: "arrow" }
      : { word: "tried again", tone: "warn", icon: "replay" };
  }
  return attempts.at(-1)?.error === null
    ? { word: "delivered", tone: "good", icon: "check" }
    : { word: "given up", tone: "bad", icon: "cross" };
}
