import { escapeControls } from "../../../base/text.js";
import { streamState, dashboardSession, type StreamState } from "../state/dashboard-session.js";

const CONNECTIONS: Record<StreamState, { word: string; meaning: string }> = {
  connecting: { word: "connecting", meaning: "Connecting to the app." },
  live: { word: "live", meaning: "The page follows the store." },
  polling: { word: "every 3 s", meaning: "Too many pages follow the store; this one reads every 3 s." },
  lost: { word: "lost, trying again", meaning: "The app does not answer. What is shown may be old." },
  ended: { word: "stopped, trying again", meaning: "The receiver has stopped. What is shown may be old." },
};

const CONNECTION_CLASSES: Record<StreamState, string> = {
  connecting: "connecting",
  live: "live",
  polling: "live",
  lost: "lost",
  ended: "lost",
};

/** Which store this is, who looks at it, and whether the page is live. */
export function DashboardTop() {
  const current = dashboardSession.value;
  const { word, meaning } = CONNECTIONS[streamState.value];
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
      <span class={`connection ${CONNECTION_CLASSES[streamState.value]}`} role="status" title={meaning}>
        <span class="connection-dot" />
        {word}
      </span>
    </header>
  );
}

/** What tells stores apart on a phone: a file with its folder, or a host with its database. */
function endOf(database: string): string {
  return database.split("/").slice(-2).join("/");
}
