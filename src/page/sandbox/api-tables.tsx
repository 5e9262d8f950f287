import { escapeControls } from "../../base/text.js";
import type { SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import { ReceivedTable } from "./received-table.js";

/** What the sandbox's API received: the contact events that it stored, and every call. */
export function ApiTables({ state: { contactEvents, calls } }: { state: SandboxState }) {
  return (
    <>
      <ReceivedTable
        title="Contact events received"
        columns={["Occurred", "Name", "Contact", "Properties"]}
        isEmpty={contactEvents.length === 0}
        emptyText="None yet. Handlers send them with ctx.contactEvents.record."
      >
        {contactEvents.map(({ id, name, email, properties, occurredAt }) => (
          <tr key={id}>
            <td title={formatExactTime(occurredAt)}>{formatTime(occurredAt)}</td>
            <td>{escapeControls(name)}</td>
            <td>{escapeControls(email)}</td>
            <td>{escapeControls(JSON.stringify(properties))}</td>
          </tr>
        ))}
      </ReceivedTable>
      <ReceivedTable
        title="Calls received"
        columns={["Time", "Call", "Answer", "Fault"]}
        isEmpty={calls.length === 0}
        emptyText="No call yet."
      >
        {calls.map(({ at, method, call, status, code, fault }, index) => (
          <tr key={`${at} ${index}`}>
            <td title={formatExactTime(at)}>{formatTime(at)}</td>
            <td>{call === null ? `${escapeControls(method)}, no known path` : escapeControls(call)}</td>
            <td class={status !== null && status < 300 ? "good" : "bad"}>
              {status ?? "no answer"} {code !== null && <code class="tag">{escapeControls(code)}</code>}
            </td>
            <td>{fault !== null && <span class="tag">{escapeControls(fault)}</span>}</td>
          </tr>
        ))}
      </ReceivedTable>
    </>
  );
}
