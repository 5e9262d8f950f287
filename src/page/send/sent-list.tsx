import { escapeControls } from "../../base/text.js";
import { captures } from "../state/captures.js";
import { goTo } from "../state/address.js";
import { workOf } from "../state/work.js";
import { AnswerBadge, VerdictBadge, WorkBadge } from "../ui/badges.js";
import { formatTime } from "../ui/format.js";

/** Events sent from this view, with their answers. */
export function SentList({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return null;
  const rows = ids.flatMap((id) => captures.value.filter((capture) => capture.id === id)).slice(0, 20);
  return (
    <section class="sent" aria-label="Sent from here">
      <h2>Sent from here</h2>
      {rows.map((capture) => (
        <button
          type="button"
          class="sent-row"
          key={capture.id}
          title={`Open the delivery of ${formatTime(capture.receivedAt)}`}
          onClick={() => goTo("deliveries", { open: capture.id })}
        >
          <VerdictBadge verdict={capture.verdict} />
          <span class="sent-type">{escapeControls(capture.type ?? "")}</span>
          <AnswerBadge capture={capture} />
          <WorkBadge work={workOf(capture)} />
        </button>
      ))}
    </section>
  );
}
