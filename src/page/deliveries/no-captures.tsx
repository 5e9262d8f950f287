import { query, setQuery, totalCaptures } from "../state/captures.js";
import { goTo } from "../state/address.js";
import { session } from "../state/session.js";
import { CopyLine } from "../ui/copy-line.js";
import { Empty } from "../ui/empty.js";
import { plural } from "../ui/format.js";

/** An empty list that says how to fill it. */
export function NoCaptures() {
  if (query.value !== "" && totalCaptures.value > 0) {
    return (
      <Empty title="Nothing matches">
        <p>None of {plural(totalCaptures.value, "delivery", "deliveries")} fits this search.</p>
        <button type="button" class="button" onClick={() => setQuery("")}>
          Clear the search
        </button>
      </Empty>
    );
  }
  const url = session.value?.publicUrl ?? session.value?.captureUrl ?? "";
  return (
    <Empty title="Waiting for the first delivery">
      <ol class="steps">
        <li>
          {session.value?.publicUrl == null ? (
            <p>
              Deliveries are received here. The service needs a public address: start with a tunnel, or use the sandbox.
            </p>
          ) : (
            <p>Give this address to the service as the URL of a webhook endpoint.</p>
          )}
          <CopyLine text={url} what="the receiving URL" />
        </li>
        <li>
          <p>Or send a signed sample right now, without the service:</p>
          <button type="button" class="button primary" onClick={() => goTo("send")}>
            Send a sample event <kbd>n</kbd>
          </button>
          <p class="hint">On the command line: pigeonhole trigger email.received</p>
        </li>
      </ol>
    </Empty>
  );
}
