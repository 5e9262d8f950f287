import { useState } from "preact/hooks";
import { goTo } from "../state/address.js";
import {
  captureSelection,
  openCapture,
  openId,
  captures,
  isLoaded,
  loadedQuery,
  query,
  setQuery,
  totalCaptures,
} from "../state/captures.js";
import { session } from "../state/session.js";
import { plural, shortText } from "../text/format.js";
import { Button } from "../ui/button.js";
import { CopyButton } from "../ui/copy-button.js";
import { DataTable, ListRegion } from "../ui/data-table.js";
import { Empty } from "../ui/empty.js";
import { captureColumns } from "./capture-columns.js";

/** Rows that are drawn at once: to draw 10,000 takes seconds. */
const PAGE = 200;

/** The deliveries, newest first. Another search starts at the top. */
export function CaptureList() {
  return isLoaded.value && captures.value.length === 0 ? <NoCaptures /> : <CaptureTable key={loadedQuery.value} />;
}

function CaptureTable() {
  const [shown, setShown] = useState(PAGE);
  return (
    <ListRegion label="Deliveries">
      <DataTable
        label="Deliveries"
        columns={captureColumns(session.value?.inbox === true)}
        rows={captures.value.slice(0, shown)}
        keyOf={({ id }) => id}
        isInList
        list={{
          selection: captureSelection,
          nameOf: ({ type, subject }) => shortText(`${type ?? "unreadable"} ${subject}`),
          open: ({ id }) => openCapture(id),
          isOpen: ({ id }) => id === openId.value,
        }}
      />
      {captures.value.length > shown && <Button label="Show more" class="more" run={() => setShown(shown + PAGE)} />}
    </ListRegion>
  );
}

/** An empty list that says how to fill it. */
function NoCaptures() {
  if (query.value !== "" && totalCaptures.value > 0) {
    return (
      <Empty title="Nothing matches">
        <p>None of {plural(totalCaptures.value, "delivery", "deliveries")} fits this search.</p>
        <Button label="Clear the search" run={() => setQuery("")} />
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
          <CopyButton text={url} what="the receiving URL" />
        </li>
        <li>
          <p>Or send a signed sample right now, without the service:</p>
          <Button class="primary" run={() => goTo("send")}>
            Send a sample event <kbd>n</kbd>
          </Button>
          <p class="hint">On the command line: pigeonhole trigger email.received</p>
        </li>
      </ol>
    </Empty>
  );
}
