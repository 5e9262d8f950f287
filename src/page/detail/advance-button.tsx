import { advanceClock } from "../state/sandbox.js";
import { Icon } from "../ui/icon.js";

/** Moves the sandbox's clock to the next attempt at the event, which is made then. */
export function AdvanceButton({ eventId }: { eventId: string }) {
  return (
    <button type="button" class="button" onClick={() => void advanceClock({ toNext: eventId })}>
      <Icon name="clock" /> Advance to the next attempt
    </button>
  );
}
