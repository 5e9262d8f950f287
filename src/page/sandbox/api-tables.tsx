import { escapeControls } from "../../base/text.js";
import type { SandboxState } from "../../dev/sandbox/sandbox-state.js";
import { formatExactTime, formatTime } from "../ui/format.js";
import type { ComponentChildren } from "preact";

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

interface ReceivedTableOptions {
  title: string;
  columns: readonly string[];
  isEmpty: boolean;
  /** Shown instead of a table without rows. */
  emptyText: string;
  /** The `<tr>`s. */
  children: ComponentChildren;
}

/** A panel with one list of what the sandbox's API received. */
function ReceivedTable({ title, columns, isEmpty, emptyText, children }: ReceivedTableOptions) {
  return (
    <section class="sandbox-panel" aria-label={title}>
      <h2>{title}</h2>
      {isEmpty ? (
        <p class="nothing">{emptyText}</p>
      ) : (
        <table class="table" aria-label={title}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      )}
    </section>
  );
}
