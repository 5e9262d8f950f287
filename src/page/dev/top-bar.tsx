import { session } from "../state/session.js";
import { ConnectionState } from "../ui/connection-state.js";
import { CopyLine } from "../ui/copy-line.js";
import { Icon } from "../ui/icon.js";

/** Where deliveries are received and forwarded, and whether the page is live. */
export function TopBar() {
  const current = session.value;
  return (
    <header class="top">
      {current !== null && (
        <>
          <span class="top-item">
            <span class="top-label">{current.publicUrl === null ? "Receiving" : "Public"}</span>
            <CopyLine
              text={current.publicUrl ?? current.captureUrl}
              what={current.publicUrl === null ? "the receiving URL" : "the public URL"}
            />
          </span>
          <Icon name="arrow" />
          <span class="top-item forwards">
            {current.forwards.length === 0 ? (
              <span class="hint">captured only; --forward-to sends on to your app</span>
            ) : (
              current.forwards.map(({ types, target }) => (
                <span class="forward" key={`${types}${target}`} title={`${types} → ${target}`}>
                  {types !== "*" && <span class="tag">{types}</span>}
                  <code>{target.replace(/^https?:\/\//, "")}</code>
                </span>
              ))
            )}
          </span>
          <span class="spring" />
          <span class="top-item secrets" title="Secrets that signatures are checked with">
            <span class="top-label">Secret</span>
            {current.secrets.length === 0 ? <span class="warn">none</span> : <code>{current.secrets.join(", ")}</code>}
          </span>
        </>
      )}
      {current === null && <span class="spring" />}
      <ConnectionState server="The dev server" />
    </header>
  );
}
