import { EVENT_TYPES } from "../../protocol/event-types.js";
import type { RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { loadedQuery, query, queryProblem, setQuery } from "../state/captures.js";
import {
  endDraft,
  isUnfinished,
  readDraft,
  replaceTyped,
  typedTerm,
  typeInto,
  type SearchDraft,
} from "../state/search-draft.js";
import { completeTerm, isFieldTerm, splitQuery, type Completion } from "../state/search-terms.js";
import { Icon } from "../ui/icon.js";

/** Element id, so that `/` finds the box. */
export const SEARCH_BOX_ID = "search";

interface BoxText {
  /** The query that the draft belongs to. One that is changed elsewhere (a filter, the address bar) replaces it. */
  of: string;
  draft: SearchDraft;
  /** Place of the caret in a text that is not as it was typed. */
  caret?: number;
}

/** Terms that name a field become chips; plain words stay text. The query is in the address bar. */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState(-1);
  const search = useSearch(input, () => setPicked(-1));
  const { chips, text, offers } = search;
  const listId = useId();
  return (
    <div class="search">
      <div class={queryProblem.value === "" ? "search-field" : "search-field invalid"}>
        <Icon name="search" />
        {chips.map((chip, index) => (
          <Chip key={`${chip}:${index}`} text={chip} onRemove={() => search.remove(index)} />
        ))}
        <input
          id={SEARCH_BOX_ID}
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search deliveries"
          aria-expanded={offers.length > 0}
          aria-controls={listId}
          aria-invalid={queryProblem.value !== ""}
          {...(picked >= 0 ? { "aria-activedescendant": `${listId}-${picked}` } : {})}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={
            chips.length === 0 ? "Search: words, type:email.*, status:5xx, verdict:bad, data.recipient:…" : ""
          }
          value={text}
          onInput={({ currentTarget: { value, selectionStart } }) => search.type(value, selectionStart ?? value.length)}
          onKeyDown={(event) => onSearchKey(event, { search, picked, setPicked })}
          onFocus={() => search.setOffering(true)}
          onClick={() => search.setOffering(true)}
          onBlur={search.leave}
        />
        {chips.length === 0 && text === "" && <kbd>/</kbd>}
      </div>
      {queryProblem.value !== "" && <Problem />}
      <div class="offers" id={listId} role="listbox" aria-label="Completions" hidden={offers.length === 0}>
        {offers.map((offer, index) => (
          <Offer
            key={offer.term}
            id={`${listId}-${index}`}
            offer={offer}
            isPicked={index === picked}
            onTake={() => search.take(offer)}
          />
        ))}
      </div>
    </div>
  );
}

/** What is typed, and what is searched for by it. `searched` is called for each search. */
function useSearch(input: RefObject<HTMLInputElement>, searched: () => void) {
  const { chips, words } = splitQuery(query.value);
  const [kept, setText] = useState<BoxText>({ of: query.value, draft: { head: words, tail: "" } });
  const [isOffering, setOffering] = useState(false);
  const draft = kept.of === query.value ? kept.draft : { head: words, tail: "" };
  const text = draft.head + draft.tail;
  const term = typedTerm(draft);
  const types = EVENT_TYPES;
  const offers = isOffering && (term !== "" || text === "") ? completeTerm(term, types).slice(0, 12) : [];

  useLayoutEffect(() => {
    if (kept.caret !== undefined) input.current?.setSelectionRange(kept.caret, kept.caret);
  }, [kept]);

  /** Searches for the chips and words; `rest` stays in the box. */
  const search = (nextChips: readonly string[], nextWords: readonly string[], rest: Omit<BoxText, "of">) => {
    const next = [...nextChips, ...nextWords].join(" ");
    setText({ of: next, ...rest });
    setQuery(next);
    searched();
  };
  const type = (nextText: string, caret: number) => {
    const read = readDraft(typeInto(draft, nextText, caret));
    const isAsTyped = read.rest.head + read.rest.tail === nextText;
    setOffering(true);
    search([...chips, ...read.chips], read.words, {
      draft: read.rest,
      ...(isAsTyped ? {} : { caret: read.rest.head.length }),
    });
  };
  const commit = () => {
    const terms = endDraft(draft);
    const plain = terms.filter((each) => !isFieldTerm(each));
    setOffering(false);
    search([...chips, ...terms.filter(isFieldTerm)], plain, { draft: { head: plain.join(" "), tail: "" } });
  };
  const clear = () => {
    setOffering(false);
    search([], [], { draft: { head: "", tail: "" } });
  };
  const take = ({ term: offered, isOpen }: Completion) => {
    const read = readDraft(replaceTyped(draft, isOpen ? offered : `${offered} `));
    setOffering(isOpen);
    search([...chips, ...read.chips], read.words, { draft: read.rest, caret: read.rest.head.length });
    input.current?.focus();
  };
  const remove = (index: number) => search(chips.toSpliced(index, 1), readDraft(draft).words, { draft });
  /** The last chip becomes text again. */
  const reopen = () => {
    const rest = chips.slice(0, -1).join(" ");
    setQuery(rest);
    setText({ of: rest, draft: { head: chips.at(-1) ?? "", tail: "" } });
  };
  const leave = () => {
    setOffering(false);
    // A field without a value would be an error.
    if (isUnfinished(term) && !/:"?$/.test(term)) commit();
  };
  return { input, chips, text, offers, setOffering, type, commit, clear, take, remove, reopen, leave };
}

interface KeyOptions {
  search: ReturnType<typeof useSearch>;
  picked: number;
  setPicked: (index: number) => void;
}

function onSearchKey(event: KeyboardEvent, { search, picked, setPicked }: KeyOptions): void {
  const { chips, text, offers } = search;
  const offer = offers[picked];
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (offers.length === 0) return search.setOffering(true);
    event.preventDefault();
    const by = event.key === "ArrowDown" ? 1 : -1;
    setPicked(((picked + by + 1 + offers.length + 1) % (offers.length + 1)) - 1);
  } else if ((event.key === "Enter" || event.key === "Tab") && offer !== undefined) {
    event.preventDefault();
    search.take(offer);
  } else if (event.key === "Enter") search.commit();
  else if (event.key === "Backspace" && text === "" && chips.length > 0) {
    event.preventDefault();
    search.reopen();
  } else if (event.key === "Escape") {
    if (text !== "" || chips.length > 0) search.clear();
    else search.input.current?.blur();
  }
}

function Problem() {
  return (
    <p class="search-problem" role="alert">
      <Icon name="warning" /> {queryProblem.value}
      <span class="hint">
        {loadedQuery.value === "" ? "Below are all deliveries." : "Below are the results of the search before."}
      </span>
    </p>
  );
}

function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <span class="chip">
      <span class="chip-text">{text}</span>
      <button type="button" aria-label={`Remove ${text}`} onClick={onRemove}>
        <Icon name="cross" />
      </button>
    </span>
  );
}

interface OfferOptions {
  id: string;
  offer: Completion;
  isPicked: boolean;
  onTake: () => void;
}

function Offer({ id, offer: { term, hint }, isPicked, onTake }: OfferOptions) {
  return (
    <div
      id={id}
      role="option"
      class="offer"
      aria-selected={isPicked}
      onPointerDown={(event) => {
        // The box keeps the focus.
        event.preventDefault();
        onTake();
      }}
    >
      <code>{term}</code>
      <span class="hint">{hint}</span>
    </div>
  );
}
