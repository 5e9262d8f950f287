import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { captures, isLoaded, loadedQuery, query, setQuery, totalCaptures } from "../state/captures.js";
import { captureSelection, cursorId, openId } from "../state/capture-selection.js";
import { session } from "../state/session.js";
import { replayWorkOf, workOf } from "../state/work.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { useVirtualRows } from "../ui/use-virtual-rows.js";
import { CaptureRow, isNarrow, rowHeightAt, rowId } from "./capture-row.js";
import { goTo } from "../state/address.js";
import { CopyButton } from "../ui/copy-button.js";
import { plural } from "../text/format.js";
import { Empty } from "../ui/empty.js";

/** Element id, so that Esc in the search box moves the focus here. */
export const LIST_ID = "captures";

const COLUMNS = [
  ["verdict", "Signature"],
  ["time", "Time"],
  ["handle", "Capture"],
  ["type", "Type"],
  ["subject", "Subject"],
  ["answer", "Answer"],
  ["work", "Handlers"],
  ["ms", "Took"],
] as const;

/** The deliveries, newest first. */
export function CaptureList() {
  return isLoaded.value && captures.value.length === 0 ? <NoCaptures /> : <CaptureGrid />;
}

/** Only visible rows are rendered. */
function CaptureGrid() {
  const rows = captures.value;
  const { ref, rowHeight, start, end, onScroll, scrollToRow } = useVirtualRows(rows.length, rowHeightAt);
  const unseen = useArrivals(ref, rowHeight);
  const cursor = cursorId.value;

  useEffect(() => {
    const index = captures.value.findIndex(({ id }) => id === cursor);
    if (index !== -1) scrollToRow(index);
  }, [cursor]);

  const classes = ["list", session.value?.inbox === true && "with-work", isNarrow(rowHeight) && "narrow"];
  return (
    <div class={classes.filter((name) => name !== false).join(" ")}>
      {unseen.count > 0 && (
        <button type="button" class="pill" onClick={() => unseen.show()}>
          <Icon name="up" /> {unseen.count} new
        </button>
      )}
      <div
        class="list-scroll"
        id={LIST_ID}
        ref={ref}
        role="grid"
        aria-label="Deliveries"
        aria-multiselectable
        aria-rowcount={rows.length + 1}
        {...(cursor === "" ? {} : { "aria-activedescendant": rowId(cursor) })}
        tabIndex={0}
        onScroll={() => {
          onScroll();
          unseen.onScroll();
        }}
      >
        <Head />
        <div class="list-rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
          <div class="list-window" role="presentation" style={{ transform: `translateY(${start * rowHeight}px)` }}>
            {rows.slice(start, end).map((capture, offset) => (
              <CaptureRow
                key={capture.id}
                capture={capture}
                index={start + offset}
                isCursor={capture.id === cursor}
                isOpen={capture.id === openId.value}
                isChosen={captureSelection.has(capture.id)}
                work={workOf(capture)}
                replayWork={replayWorkOf(capture)}
                isFresh={unseen.isFresh(capture.id)}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function Head() {
  const count = captures.value.length;
  const areAllChosen = captureSelection.isWhole.value;
  return (
    <div class="row head" role="row" aria-rowindex={1}>
      <span class="cell choose" role="columnheader">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={areAllChosen ? "Choose none" : `Choose all ${plural(count, "delivery", "deliveries")}`}
          checked={areAllChosen}
          onChange={captureSelection.toggleAll}
        />
      </span>
      {COLUMNS.map(([name, label]) => (
        <span key={name} class={`cell ${name}`} role="columnheader">
          {label}
        </span>
      ))}
    </div>
  );
}

/** Keeps the visible rows in place while new rows arrive above them, and counts the new ones. */
function useArrivals(ref: { current: HTMLDivElement | null }, rowHeight: number) {
  const [count, setCount] = useState(0);
  const before = useRef({ top: "", length: 0, query: "" });
  const fresh = useRef(new Set<string>());
  const rows = captures.value;
  const top = rows[0]?.id ?? "";

  const last = before.current;
  // The query of the rows: that of the address is ahead of them until they are loaded.
  const isOtherList = last.query !== loadedQuery.value;
  const isSameList = !isOtherList && last.length > 0;
  // At most the size of a burst. A list that was filtered again has no new arrivals.
  const added = isSameList && top !== last.top ? rows.findIndex(({ id }) => id === last.top) : 0;
  if (added > 0) for (const { id } of rows.slice(0, added)) fresh.current.add(id);

  useLayoutEffect(() => {
    const element = ref.current;
    before.current = { top, length: rows.length, query: loadedQuery.value };
    if (isOtherList) {
      setCount(0);
      element?.scrollTo({ top: 0 });
    }
    if (added <= 0 || element === null || element.scrollTop < rowHeight) return;
    element.scrollTop += added * rowHeight;
    setCount((value) => value + added);
  }, [top, rows.length, loadedQuery.value]);

  return {
    count,
    isFresh: (id: string) => fresh.current.has(id),
    onScroll() {
      if (count > 0 && (ref.current?.scrollTop ?? 0) < rowHeight) setCount(0);
    },
    show() {
      ref.current?.scrollTo({ top: 0 });
      setCount(0);
    },
  };
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
