import { escapeControls } from "../../base/text.js";
import { useMemo, useRef, useState } from "preact/hooks";
import { makeTerm } from "../../capture/query/query.js";
import { toggleTerm } from "../state/search-terms.js";
import { query, setQuery } from "../state/captures.js";
import { copyText } from "../state/copy-or-save.js";
import { runAction } from "../state/notice.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import { plural } from "../text/format.js";
import { countMembers, isContainer, listTreeRows, type Folds, type TreeRow } from "./tree-rows.js";

/** Lines rendered without a click. */
const PAGE = 400;

/** Characters of a text that are rendered at first. */
const LONG_TEXT = 400;

/** Characters of a value and its path that a search may be for; a search has at most 2,000. */
const MAX_FOUND = 1_000;

/** Pixels per level. */
const INDENT = 16;

/** Indent in pixels of a long value, from its fold mark. json.css removes it from the first line. */
const HANG = 34;

/** Bodies with more lines than this start folded below their second level. */
const FOLD_ABOVE = 300;

const ALL = Number.POSITIVE_INFINITY;
const NONE: ReadonlySet<string> = new Set();

interface JsonTreeOptions {
  value: unknown;
  label: string;
  /** Offers to search the captures for a value. */
  canSearch?: boolean;
}

/** A JSON tree: fold with a click or the arrow keys, copy a path or a value. */
export function JsonTree({ value, label, canSearch = false }: JsonTreeOptions) {
  const [folds, setFolds] = useState<Folds>(() => firstFolds(value));
  const [shown, setShown] = useState(PAGE);
  const [current, setCurrent] = useState(0);
  const root = useRef<HTMLDivElement>(null);
  // One more than is shown tells whether there are more.
  const listed = useMemo(() => listTreeRows(value, folds, shown + 1), [value, folds, shown]);
  const rows = listed.slice(0, shown);

  const toggle = (path: string) => {
    const switched = new Set(folds.switched);
    if (!switched.delete(path)) switched.add(path);
    setFolds({ ...folds, switched });
  };
  const focusRow = (index: number) => {
    const next = Math.min(Math.max(0, index), rows.length - 1);
    setCurrent(next);
    root.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[next]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[current];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown") focusRow(current + 1);
    else if (event.key === "ArrowUp") focusRow(current - 1);
    else if (event.key === "ArrowRight" && row.isOpen === false) toggle(row.path);
    else if (event.key === "ArrowLeft" && row.isOpen === true) toggle(row.path);
    else if (event.key === "ArrowLeft")
      focusRow(rows.findLastIndex((up, index) => index < current && up.depth < row.depth));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="json">
      {rows.some(({ isOpen }) => isOpen !== null) && <FoldAll setFolds={setFolds} />}
      <div class="json-rows" role="tree" aria-label={label} ref={root} onKeyDown={onKeyDown}>
        {rows.map((row, index) => (
          <Row
            key={`${row.path}:${index}`}
            row={row}
            isCurrent={index === current}
            canSearch={canSearch}
            onFocus={() => setCurrent(index)}
            onToggle={() => toggle(row.path)}
          />
        ))}
      </div>
      {listed.length > shown && <Button label="Show more lines" run={() => setShown(shown + 5 * PAGE)} />}
    </div>
  );
}

function FoldAll({ setFolds }: { setFolds: (folds: Folds) => void }) {
  return (
    <div class="json-tools">
      {[ALL, 0].map((openDepth) => (
        <button type="button" class="link" key={openDepth} onClick={() => setFolds({ openDepth, switched: NONE })}>
          {openDepth === 0 ? "Fold all" : "Unfold all"}
        </button>
      ))}
    </div>
  );
}

interface RowFace {
  isCurrent: boolean;
  canSearch: boolean;
}

interface RowOptions extends RowFace {
  row: TreeRow;
  onFocus: () => void;
  onToggle: () => void;
}

function Row({ row, isCurrent, canSearch, onFocus, onToggle }: RowOptions) {
  const { value, path } = row;
  return (
    <div
      class="json-row"
      role="treeitem"
      aria-level={row.depth + 1}
      {...(row.isOpen === null ? {} : { "aria-expanded": row.isOpen })}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={onFocus}
    >
      <span class="json-line" style={{ paddingLeft: `${row.depth * INDENT + HANG}px` }}>
        {row.isOpen === null ? (
          <span class="json-fold" />
        ) : (
          <button
            type="button"
            class={row.isOpen ? "json-fold open" : "json-fold"}
            tabIndex={-1}
            aria-label={row.isOpen ? "Fold" : "Unfold"}
            onClick={onToggle}
          >
            <Icon name="chevron" />
          </button>
        )}
        {row.name !== "" && (
          <CutText class={row.isIndex ? "json-index" : "json-name"} text={row.name} isCurrent={isCurrent} />
        )}
        {row.name !== "" && <span class="json-colon">: </span>}
        {isContainer(value) ? (
          <button type="button" class="json-size" tabIndex={-1} onClick={onToggle} disabled={row.isOpen === null}>
            {sizeOf(value)}
          </button>
        ) : (
          <CutText
            class={`json-value ${value === null ? "null" : typeof value}`}
            text={JSON.stringify(value)}
            isCurrent={isCurrent}
          />
        )}
      </span>
      <RowActions value={value} path={path} isCurrent={isCurrent} canSearch={canSearch} />
    </div>
  );
}

function RowActions({ value, path, isCurrent, canSearch }: Pick<TreeRow, "value" | "path"> & RowFace) {
  const term = canSearch && !isContainer(value) ? termFor(path, writeValue(value)) : null;
  const link = { type: "button", class: "link", tabIndex: isCurrent ? 0 : -1 } as const;
  const whole = path === "" ? "the value" : `the value of ${path}`;
  return (
    <span class="json-actions">
      {path !== "" && (
        <button {...link} onClick={() => void copyText(path, path)}>
          path
        </button>
      )}
      <button {...link} onClick={() => void runAction(() => copyText(writeValue(value), whole))}>
        value
      </button>
      {term !== null && (
        <button
          {...link}
          title="Show the captures with this value"
          onClick={() => setQuery(toggleTerm(query.value, term))}
        >
          find
        </button>
      )}
    </span>
  );
}

/** A name, string, number or literal. A long one shows its beginning until the rest is requested. */
function CutText({ class: kind, text, isCurrent }: { class: string; text: string; isCurrent: boolean }) {
  const [isWhole, setWhole] = useState(text.length <= LONG_TEXT);
  // Never half of a surrogate pair.
  const beginning = isWhole ? text : text.slice(0, LONG_TEXT).replace(/[\uD800-\uDBFF]$/, "");
  return (
    <>
      <span class={kind}>{escapeControls(beginning)}</span>
      {!isWhole && (
        <button
          type="button"
          class="link json-whole"
          tabIndex={isCurrent ? 0 : -1}
          onClick={(event) => {
            // The button disappears, so the focus moves to its line.
            event.currentTarget.closest<HTMLElement>("[role=treeitem]")?.focus();
            setWhole(true);
          }}
        >
          … all {plural(text.length, "character")}
        </button>
      )}
    </>
  );
}

/** A body with many lines starts folded below its second level. */
function firstFolds(value: unknown): Folds {
  const unfolded = { openDepth: ALL, switched: NONE };
  return listTreeRows(value, unfolded, FOLD_ABOVE + 1).length > FOLD_ABOVE ? { ...unfolded, openDepth: 1 } : unfolded;
}

function sizeOf(value: object): string {
  const count = countMembers(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return count === 0 ? `${open} ${close}` : `${open} ${count} ${close}`;
}

/** What is copied, and searched for: a text without its quotes. */
function writeValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The search term that finds this value; null if the search language cannot express its path. */
function termFor(path: string, value: string): string | null {
  if (value === "" || path.includes('"') || path.length + value.length > MAX_FOUND) return null;
  if (path === "id" || path === "type") return makeTerm({ field: path, value, negated: false }).text;
  // In the search language a list means each of its items.
  const field = path.replaceAll(/\[\d+\]/g, "");
  return field.startsWith("data.") ? makeTerm({ field, value, negated: false }).text : null;
}
