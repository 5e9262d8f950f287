import { escapeControls } from "../../base/text.js";
import type { SandboxState } from "../../dev/api/sandbox-state.js";
import { formatExactTime, formatTime } from "../ui/format.js";

/** What the sandbox's API received: the contact events that it stored, and every call. */
export function ApiTables({ state: { contactEvents, calls } }: { state: SandboxState }) {
  return (
    <>
      <section class="sandbox-panel" aria-label="Contact events received">
        <h2>Contact events received</h2>
        {contactEvents.length === 0 ? (
          <p class="nothing">None yet. Handlers send them with ctx.contactEvents.record.</p>
        ) : (
          <table class="table" aria-label="Contact events received">
            <thead>
              <tr>
                <th scope="col">Occurred</th>
                <th scope="col">Name</th>
                <th scope="col">Contact</th>
                <th scope="col">Properties</th>
              </tr>
            </thead>
            <tbody>
              {contactEvents.map(({ id, name, email, properties, occurredAt }) => (
                <tr key={id}>
                  <td title={formatExactTime(occurredAt)}>{formatTime(occurredAt)}</td>
                  <td>{escapeControls(name)}</td>
                  <td>{escapeControls(email)}</td>
                  <td>{escapeControls(JSON.stringify(properties))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section class="sandbox-panel" aria-label="Calls received">
        <h2>Calls received</h2>
        {calls.length === 0 ? (
          <p class="nothing">No call yet.</p>
        ) : (
          <table class="table" aria-label="Calls received">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Call</th>
                <th scope="col">Answer</th>
                <th scope="col">Fault</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        )}
      </section>
    </>
  );
}
