import { useState } from "preact/hooks";
import type { FaultBody, SandboxFaultRule } from "../../dev/sandbox/sandbox-state.js";
import { addFault } from "../state/sandbox.js";
import { FAULT_KINDS, type FaultField } from "./fault-kinds.js";

/** What limits a fault: to some deliveries or calls, and to a number of times. */
const LIMITS_OF: Record<FaultBody["of"], readonly FaultField[]> = {
  deliveries: [
    { name: "types", label: "Types", type: "text", start: "", empty: "all" },
    { name: "attempt", label: "Attempt", type: "number", start: "", empty: "each" },
    { name: "times", label: "Times", type: "number", start: "1", empty: "no limit" },
  ],
  api: [
    { name: "calls", label: "Calls", type: "text", start: "", empty: "all" },
    { name: "times", label: "Times", type: "number", start: "1", empty: "no limit" },
  ],
};

/** Adds a fault. The dev server says what is wrong with a field. */
export function FaultForm() {
  const [of, setOf] = useState<FaultBody["of"]>("deliveries");
  const [kind, setKind] = useState("status");
  const kinds = FAULT_KINDS[of];
  const chosen = kinds.find((each) => each.kind === kind) ?? kinds[0];
  const fields = chosen?.fields ?? [];
  const add = (form: HTMLFormElement) => {
    const typed = new FormData(form);
    const fault = { kind: chosen?.kind ?? kind, ...readFields(fields, typed) };
    const rule: SandboxFaultRule = { fault, ...readFields(LIMITS_OF[of], typed) };
    void addFault({ of, rule });
  };
  return (
    <form
      class="sandbox-form"
      aria-label="Add a fault"
      onSubmit={(event) => {
        event.preventDefault();
        add(event.currentTarget);
      }}
    >
      <label>
        Of{" "}
        <select value={of} onChange={(event) => setOf(event.currentTarget.value === "api" ? "api" : "deliveries")}>
          <option value="deliveries">deliveries</option>
          <option value="api">API calls</option>
        </select>
      </label>
      <label>
        Fault{" "}
        <select value={chosen?.kind ?? ""} onChange={(event) => setKind(event.currentTarget.value)}>
          {kinds.map((each) => (
            <option key={each.kind} value={each.kind}>
              {each.kind}: {each.meaning}
            </option>
          ))}
        </select>
      </label>
      {[...fields, ...LIMITS_OF[of]].map((field) => (
        <Field key={`${of} ${chosen?.kind} ${field.name}`} field={field} />
      ))}
      <button type="submit" class="button">
        Add the fault
      </button>
    </form>
  );
}

function Field({ field: { name, label, type, start, empty = "" } }: { field: FaultField }) {
  if (type === "flag") {
    return (
      <label>
        <input type="checkbox" name={name} value="true" /> {label}
      </label>
    );
  }
  return (
    <label>
      {label}{" "}
      <input
        type={type}
        name={name}
        defaultValue={start}
        placeholder={empty}
        size={type === "text" ? 12 : 6}
        spellcheck={false}
      />
    </label>
  );
}

/** The fields as the rule has them; an empty one is left out. */
function readFields(fields: readonly FaultField[], typed: FormData): Record<string, unknown> {
  const entries = fields.map(({ name, type }): [string, unknown] => {
    const value = typed.get(name);
    const text = typeof value === "string" ? value.trim() : "";
    if (type === "flag") return [name, text === "true"];
    return [name, text === "" ? undefined : type === "number" ? Number(text) : text];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
