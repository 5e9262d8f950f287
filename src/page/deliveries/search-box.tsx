import { EVENT_TYPES } from "../../protocol/event-types.js";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { loadedQuery, query, queryProblem, setQuery } from "../state/captures.js";
import { completeTerm, endQuote, isUnfinished, splitAtCaret, type Completion } from "../state/search-terms.js";
import { Icon } from "../ui/icon.js";

/** The query, which is in the address bar, with completions of the term at the caret. */
export function SearchBox() {
  const search = useSearch();
  const { text, caret, offers, picked } = search;
  const listId = useId();
  const box = useRef<HTMLInputElement>(null);
  // A browser puts the caret behind a text that it is given.
  useLayoutEffect(() => {
    if (document.activeElement === box.current) box.current?.setSelectionRange(caret, caret);
  }, [text, caret]);
  const followCaret = ({
    currentTarget: { selectionStart: start, selectionEnd: end },
  }: {
    currentTarget: HTMLInputElement;
  }) => {
    if (start !== null && start === end && start !== caret) search.move(start);
  };
  return (
    <div class="search">
      <div class={queryProblem.value === "" ? "search-field" : "search-field invalid"}>
        <Icon name="search" />
        <input
          ref={box}
          type="search"
          role="combobox"
          aria-label="Search deliveries"
          aria-expanded={offers.length > 0}
          aria-controls={listId}
          aria-invalid={queryProblem.value !== ""}
          {...(picked >= 0 ? { "aria-activedescendant": `${listId}-${picked}` } : {})}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="Search: words, type:email.*, status:5xx, verdict:bad, data.recipient:…"
          value={text}
          onInput={({ currentTarget: { value, selectionStart } }) => search.type(value, selectionStart ?? value.length)}
          onKeyDown={(event) => onSearchKey(event, search)}
          onFocus={() => search.setOffering(true)}
          onClick={(event) => {
            search.setOffering(true);
            followCaret(event);
          }}
          onKeyUp={followCaret}
          onBlur={() => search.leave()}
        />
        {text === "" && <kbd>/</kbd>}
      </div>
      {queryProblem.value !== "" && <Problem />}
      <Offers search={search} listId={listId} />
    </div>
  );
}

function Offers({ search, listId }: { search: ReturnType<typeof useSearch>; listId: string }) {
  const { offers, picked } = search;
  return (
    <div class="offers" id={listId} role="listbox" aria-label="Completions" hidden={offers.length === 0}>
      {offers.map((offer, index) => (
        <div
          key={offer.term}
          id={`${listId}-${index}`}
          role="option"
          class="offer"
          aria-selected={index === picked}
          onPointerDown={(event) => {
            // The box keeps the focus.
            event.preventDefault();
            search.take(offer);
          }}
        >
          <code>{offer.term}</code>
          <span class="hint">{offer.hint}</span>
        </div>
      ))}
    </div>
  );
}

/** What is typed, and what is searched for by it: all but a term at the caret that would find nothing yet. */
function useSearch() {
  /** `of`: the query that the text belongs to. One that is changed elsewhere, such as by a filter, replaces it. */
  const [typed, setTyped] = useState({ of: query.value, text: query.value, caret: query.value.length });
  const [isOffering, setOffering] = useState(false);
  const [picked, setPicked] = useState(-1);
  const isOwn = typed.of === query.value;
  const { text, caret } = isOwn ? typed : { text: query.value, caret: query.value.length };
  const { before, term, after } = splitAtCaret(text, caret);
  const offers = isOffering && (term !== "" || text === "") ? completeTerm(term, EVENT_TYPES).slice(0, 12) : [];

  const show = (next: string, at: number, searched: string) => {
    setTyped({ of: searched, text: next, caret: at });
    setQuery(searched);
    setPicked(-1);
  };
  const write = (next: string, at: number, isOpen: boolean) => {
    setOffering(isOpen);
    const typing = splitAtCaret(next, at);
    const kept = isUnfinished(typing.term) ? "" : typing.term;
    show(next, at, `${(typing.before + kept).trim()} ${typing.after.trim()}`.trim());
  };
  const commit = () => {
    setOffering(false);
    const whole = endQuote(text).trim();
    show(whole, whole.length, whole);
  };
  return {
    text,
    caret,
    offers,
    picked,
    setPicked,
    setOffering,
    type: (next: string, at: number) => write(next, at, true),
    /** The caret is elsewhere, in the same text. */
    move: (at: number) => setTyped({ of: query.value, text, caret: at }),
    commit,
    clear: () => write("", 0, false),
    take({ term: offered, isOpen }: Completion) {
      const head = `${before}${offered}${isOpen ? "" : " "}`;
      write(`${head}${isOpen ? after : after.trimStart()}`, head.length, isOpen);
    },
    leave() {
      setOffering(false);
      // A field without a value would be an error.
      if (isUnfinished(term) && !/:"?$/.test(term)) commit();
    },
  };
}

function onSearchKey(event: KeyboardEvent, search: ReturnType<typeof useSearch>): void {
  const { text, offers, picked } = search;
  const offer = offers[picked];
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (offers.length === 0) return search.setOffering(true);
    event.preventDefault();
    const by = event.key === "ArrowDown" ? 1 : -1;
    search.setPicked(((picked + by + 1 + offers.length + 1) % (offers.length + 1)) - 1);
  } else if ((event.key === "Enter" || event.key === "Tab") && offer !== undefined) {
    event.preventDefault();
    search.take(offer);
  } else if (event.key === "Enter") search.commit();
  else if (event.key === "Escape") {
    event.preventDefault();
    if (text === "") (event.currentTarget as HTMLElement).blur();
    else search.clear();
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
