import { escapeControls } from "../../../base/text.js";
import { ConnectionState } from "../../ui/connection-state.js";
import { viewer } from "../../state/session.js";

/** Which store this is, who looks at it, and whether the page is live. */
export function DashboardTop() {
  const current = viewer.value;
  return (
    <header class="top">
      {current !== null && (
        <>
          {current.database !== null && (
            <span class="top-item dash-database">
              <span class="top-label">Store</span>
              <code title={current.database}>{escapeControls(current.database)}</code>
              <code class="short" title={current.database}>
                {escapeControls(endOf(current.database))}
              </code>
            </span>
          )}
          <span class="spring" />
          <span class="top-item dash-person">
            <span class="top-label">{escapeControls(current.name)}</span>
            <span class="tag">{current.role === "operate" ? "may operate" : "read only"}</span>
          </span>
        </>
      )}
      {current === null && <span class="spring" />}
      <ConnectionState server="The app" />
    </header>
  );
}

/** What tells stores apart on a phone: a file with its folder, or a host with its database. */
function endOf(database: string): string {
  return database.split("/").slice(-2).join("/");
}
