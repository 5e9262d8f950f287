import { useEffect, useState } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import type { AdvanceBody, SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { advanceClock } from "../state/sandbox.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatTime, plural } from "../ui/format.js";
import { formatWait } from "../state/format-wait.js";

/** The sandbox's time, which can be moved ahead instead of waiting for the next attempt. */
export function ClockPanel({ state: { now, aheadMs, nextAttemptAt, openDeliveries } }: { state: SandboxState }) {
  const [by, setBy] = useState("10m");
  const [isBusy, setBusy] = useState(false);
  const time = useRunningClock(now);
  const move = async (body: AdvanceBody) => {
    setBusy(true);
    await advanceClock(body);
    setBusy(false);
  };
  return (
    <section class="sandbox-panel" aria-label="Clock">
      <h2>Clock</h2>
      <p class="sandbox-now" title={formatExactTime(time)}>
        <b>{formatTime(time)}</b>{" "}
        <span class="hint">
          {aheadMs < SECOND ? "as this machine's" : `${formatWait(aheadMs)} ahead of this machine's`}
        </span>
      </p>
      <NextAttempt at={nextAttemptAt} openDeliveries={openDeliveries} />
      <form
        class="sandbox-form"
        aria-label="Move the clock"
        onSubmit={(event) => {
          event.preventDefault();
          void move({ by: by.trim() });
        }}
      >
        <button
          type="button"
          class="button primary"
          disabled={isBusy || nextAttemptAt === null}
          onClick={() => void move({ toNext: "" })}
        >
          <Icon name="clock" /> Advance to the next attempt
        </button>
        <label>
          or by{" "}
          <input
            type="text"
            size={8}
            spellcheck={false}
            title="Such as 90s, 10m or 1h30m"
            value={by}
            onInput={(event) => setBy(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={isBusy || by.trim() === ""}>
          Advance
        </button>
      </form>
      <p class="hint">Attempts that become due are made at once. The clock only goes ahead.</p>
    </section>
  );
}

function NextAttempt({ at, openDeliveries }: { at: string | null; openDeliveries: number }) {
  if (at === null) return <p>No attempt is planned.</p>;
  return (
    <p>
      Next attempt <b title={formatExactTime(at)}>{formatTime(at)}</b> ·{" "}
      {plural(openDeliveries, "open delivery", "open deliveries")}
    </p>
  );
}

/** The time since the sandbox told its own, in milliseconds since 1970. */
function useRunningClock(now: string): number {
  const [shown, setShown] = useState(() => Date.parse(now));
  useEffect(() => {
    const [start, since] = [Date.parse(now), performance.now()];
    setShown(start);
    const timer = setInterval(() => setShown(start + performance.now() - since), SECOND);
    return () => clearInterval(timer);
  }, [now]);
  return shown;
}
