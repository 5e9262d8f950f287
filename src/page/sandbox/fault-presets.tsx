import { Form } from "../ui/form.js";
import { Button } from "../ui/button.js";
import { useState } from "preact/hooks";
import type { FaultBody } from "../../dev/sandbox/sandbox-state.js";
import { runAction } from "../state/notice.js";
import { addFault } from "../state/sandbox.js";

interface Preset extends FaultBody {
  label: string;
  meaning: string;
}

/** The faults that one wants most. */
const PRESETS: readonly Preset[] = [
  {
    label: "Fail the next 3",
    meaning: "The next 3 attempts are answered 503 before they arrive.",
    of: "deliveries",
    rule: { fault: { kind: "status", status: 503 }, times: 3 },
  },
  {
    label: "Lose the answer",
    meaning: "The next attempt is handled, and its answer is lost: the service sends it again.",
    of: "deliveries",
    rule: { fault: { kind: "lose_answer" }, times: 1 },
  },
  {
    label: "Deliver twice",
    meaning: "The next attempt is sent twice.",
    of: "deliveries",
    rule: { fault: { kind: "duplicate", copies: 1 }, times: 1 },
  },
  {
    label: "Delay 6 s",
    meaning: "The next attempt is sent 6 s later.",
    of: "deliveries",
    rule: { fault: { kind: "delay", delayMs: 6000 }, times: 1 },
  },
  {
    label: "API down",
    meaning: "Each call of the API is answered 503, until the fault is removed.",
    of: "api",
    rule: { fault: { kind: "error", status: 503 } },
  },
];

const OF_DELIVERIES = { types: "email.*", attempt: 1, times: 1 };
const OF_CALLS = { calls: "contactEvents.*", times: 1 };

/** Where a custom fault begins: each kind with its fields, and all that limits it. */
const KINDS: readonly Preset[] = (
  [
    ["status", "not sent; a proxy answers instead", "deliveries", { status: 503, retryAfter: "120" }],
    ["drop", "not sent, no answer", "deliveries", {}],
    ["lose_answer", "sent and handled, and the answer is lost", "deliveries", {}],
    ["delay", "sent later", "deliveries", { delayMs: 2000 }],
    ["duplicate", "sent more than once", "deliveries", { copies: 1 }],
    ["reorder", "sent after the next one", "deliveries", { maxMs: 60_000 }],
    ["error", "an error answer", "api", { status: 503, code: "try_later", retryAfter: "120", executed: false }],
    ["no_answer", "the connection breaks", "api", { executed: false }],
    ["delay", "answered later", "api", { delayMs: 2000 }],
  ] as const
).map(([kind, meaning, of, fields]) => ({
  label: `${of}: ${kind}`,
  meaning,
  of,
  rule: { fault: { kind, ...fields }, ...(of === "api" ? OF_CALLS : OF_DELIVERIES) },
}));

/** One button for each of the most wanted faults. */
export function FaultPresets() {
  return (
    <div class="fault-presets">
      {PRESETS.map(({ label, meaning, ...body }) => (
        <Button key={label} label={label} title={meaning} run={() => addFault(body)} />
      ))}
    </div>
  );
}

/** Any fault, as JSON. The dev server says what is wrong with it. */
export function CustomFault() {
  const [chosen, setChosen] = useState(0);
  const { of, rule } = KINDS[chosen] ?? { of: "deliveries" as const, rule: {} };
  const add = (form: HTMLFormElement) =>
    runAction(async () => {
      const typed = form.querySelector("textarea")?.value ?? "";
      await addFault({ of, rule: JSON.parse(typed) as FaultBody["rule"] });
    });
  return (
    <Form class="sandbox-form" label="Add a fault" run={add}>
      <select
        aria-label="Kind of the fault"
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.selectedIndex)}
      >
        {KINDS.map(({ label, meaning }, index) => (
          <option key={label} value={index}>
            {label}, {meaning}
          </option>
        ))}
      </select>
      <textarea
        key={chosen}
        rows={9}
        aria-label="Rule of the fault, as JSON"
        spellcheck={false}
        defaultValue={JSON.stringify(rule, null, 2)}
      />
      <Button label="Add the fault" type="submit" />
    </Form>
  );
}
