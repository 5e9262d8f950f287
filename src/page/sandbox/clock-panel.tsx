import { useState } from "preact/hooks";
import { SECOND } from "../../base/duration.js";
import type { AdvanceBody, SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { advanceClock } from "../state/sandbox.js";
import { formatSpan, plural } from "../text/format.js";
import { Button } from "../ui/button.js";
import { Form } from "../ui/form.js";
import { Panel } from "../ui/panel.js";
import { Time, useElapsed } from "../ui/time.js";

/** The sandbox's time, which can be moved ahead instead of waiting for the next attempt. */
export function ClockPanel({ state: { now, aheadMs, nextAttemptAt, openDeliveries } }: { state: SandboxState }) {
  const [by, setBy] = useState("10m");
  const [isBusy, setBusy] = useState(false);
  const time = Date.parse(now) + useElapsed(now);
  const move = async (body: AdvanceBody) => {
    setBusy(true);
    await advanceClock(body);
    setBusy(false);
  };
  return (
    <Panel title="Clock">
      <p>
        <Time at={time} class="sandbox-now" />{" "}
        <span class="hint">
          {aheadMs < SECOND ? "as this machine's" : `${formatSpan(aheadMs)} ahead of this machine's`}
        </span>
      </p>
      <p>
        {nextAttemptAt === null ? (
          "No attempt is planned."
        ) : (
          <>
            <Time at={nextAttemptAt} before="Next attempt " /> ·{" "}
            {plural(openDeliveries, "open delivery", "open deliveries")}
          </>
        )}
      </p>
      <Form class="sandbox-form" label="Move the clock" run={() => move({ by: by.trim() })}>
        <Button
          icon="clock"
          label="Advance to the next attempt"
          class="primary"
          disabled={isBusy || nextAttemptAt === null}
          run={() => move({ toNext: "" })}
        />
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
        <Button label="Advance" type="submit" disabled={isBusy || by.trim() === ""} />
      </Form>
      <p class="hint">Attempts that become due are made at once. The clock only goes ahead.</p>
    </Panel>
  );
}
