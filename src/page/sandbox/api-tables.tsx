import { escapeControls } from "../../base/text.js";
import type { SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { DataTable, timeColumn, type TableColumn } from "../ui/data-table.js";

type ReceivedEvent = SandboxState["contactEvents"][number];
type ReceivedCall = SandboxState["calls"][number];

const EVENT_COLUMNS: readonly TableColumn<ReceivedEvent>[] = [
  timeColumn("Occurred", ({ occurredAt }) => occurredAt, "plain"),
  { title: "Name", class: "plain", cell: ({ name }) => escapeControls(name) },
  { title: "Contact", class: "plain long", cell: ({ email }) => escapeControls(email) },
  {
    title: "Properties",
    class: "plain long",
    cell: ({ properties }) => escapeControls(JSON.stringify(properties)),
  },
];

const CALL_COLUMNS: readonly TableColumn<ReceivedCall>[] = [
  timeColumn("Time", ({ at }) => at, "plain"),
  {
    title: "Call",
    class: "plain long",
    cell: ({ method, call }) => escapeControls(call ?? `${method}, no known path`),
  },
  {
    title: "Answer",
    class: "plain",
    cell: ({ status, code }) => (
      <span class={status !== null && status < 300 ? "good" : "bad"}>
        {status ?? "no answer"} {code !== null && <code class="tag">{escapeControls(code)}</code>}
      </span>
    ),
  },
  {
    title: "Fault",
    class: "plain",
    cell: ({ fault }) => fault !== null && <span class="tag">{escapeControls(fault)}</span>,
  },
];

/** What the sandbox's API received: the contact events that it stored, and every call. */
export function ApiTables({ state: { contactEvents, calls } }: { state: SandboxState }) {
  return (
    <>
      <section class="sandbox-panel" aria-label="Contact events received">
        <h2>Contact events received</h2>
        {contactEvents.length === 0 ? (
          <p class="nothing">None yet. Handlers send them with ctx.contactEvents.record.</p>
        ) : (
          <DataTable
            label="Contact events received"
            columns={EVENT_COLUMNS}
            rows={contactEvents}
            keyOf={({ id }) => id}
          />
        )}
      </section>
      <section class="sandbox-panel" aria-label="Calls received">
        <h2>Calls received</h2>
        {calls.length === 0 ? (
          <p class="nothing">No call yet.</p>
        ) : (
          <DataTable
            label="Calls received"
            columns={CALL_COLUMNS}
            rows={calls}
            keyOf={(call) => String(calls.indexOf(call))}
          />
        )}
      </section>
    </>
  );
}
