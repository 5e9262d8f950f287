import { escapeControls } from "../../base/text.js";
import type { SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { Panel } from "../ui/panel.js";
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
      <Panel title="Contact events received">
        <DataTable
          label="Contact events received"
          columns={EVENT_COLUMNS}
          rows={contactEvents}
          keyOf={({ id }) => id}
          none="None yet. Handlers send them with ctx.contactEvents.record."
        />
      </Panel>
      <Panel title="Calls received">
        <DataTable
          label="Calls received"
          columns={CALL_COLUMNS}
          rows={calls}
          keyOf={(call) => String(calls.indexOf(call))}
          none="No call yet."
        />
      </Panel>
    </>
  );
}
