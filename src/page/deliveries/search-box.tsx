import { useId, useRef, useState } from "preact/hooks";
import { query, queryProblem, setQuery } from "../state/captures.js";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";
import {
  completeTerm,
  finishTerm,
  isFieldTerm,
  isUnfinished,
  splitQuery,
  splitDraft,
  splitTerms,
  type Completion,
} from "../state/search-terms.js";

/** Element id, so that `/` finds the box. */
export const SEARCH_BOX_ID = "search";

/** Terms that name a field become chips; plain words stay text. The query is in the address bar. */
export function SearchBox() {
  const { chips, words } = splitQuery(query.value);
  const [draft, setDraft] = useState<{ of: string; text: string }>({ of: query.value, text: words });
  const [picked, setPicked] = useState(-1);
  const [isFocused, setFocused] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();

  // A query changed elsewhere (a filter, the address bar) replaces the typed text.
  const text = draft.of === query.value ? draft.text : words;
  const { last: lastTerm } = splitDraft(text);
  const types = session.value?.eventTypes.map(({ name }) => name) ?? [];
  const offers = isFocused ? completeTerm(lastTerm, types).slice(0, 12) : [];
  const isListed = offers.length > 0 && (lastTerm !== "" || text === "");

  /** `shown` stays in the box, if that is more than what is searched for. */
  const write = (nextChips: readonly string[], nextText: string, shown = nextText) => {
    const next = [...nextChips, nextText.trim()].filter((part) => part !== "").join(" ");
    setDraft({ of: next, text: shown });
    setQuery(next);
    setPicked(-1);
  };
  /** Finished terms with a field become chips. A term that may become another one waits, and the list stays. */
  const type = (nextText: string) => {
    const { finished, last } = splitDraft(nextText);
    const made = finished.filter(isFieldTerm);
    const words = finished.filter((term) => !isFieldTerm(term));
    const rest = made.length === 0 ? nextText : [...words, last].join(" ").trim();
    if (!isUnfinished(last)) return write([...chips, ...made], rest);
    write([...chips, ...made], words.join(" "), rest);
  };
  const commit = () => {
    const terms = splitTerms(text).map(finishTerm);
    write([...chips, ...terms.filter(isFieldTerm)], terms.filter((term) => !isFieldTerm(term)).join(" "));
  };
  const take = (offer: Completion) => {
    const before = text.slice(0, text.length - lastTerm.length);
    if (offer.isOpen) setDraft({ of: query.value, text: `${before}${offer.term}` });
    else write([...chips, offer.term], before.trim());
    setPicked(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const offer = offers[picked];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isListed) return;
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      setPicked(((picked + by + 1 + offers.length + 1) % (offers.length + 1)) - 1);
    } else if ((event.key === "Enter" || (event.key === "Tab" && isListed)) && offer !== undefined) {
      event.preventDefault();
      take(offer);
    } else if (event.key === "Enter") commit();
    else if (event.key === "Backspace" && text === "" && chips.length > 0) {
      event.preventDefault();
      const last = chips.at(-1) ?? "";
      const rest = chips.slice(0, -1).join(" ");
      setQuery(rest);
      setDraft({ of: rest, text: last });
    } else if (event.key === "Escape") {
      if (text !== "" || chips.length > 0) write([], "");
      else input.current?.blur();
    }
  };

  return (
    <div class="search">
      <div class={queryProblem.value === "" ? "search-field" : "search-field invalid"}>
        <Icon name="search" />
        {chips.map((chip, index) => (
          <span class="chip" key={`${chip}:${index}`}>
            <span class="chip-text">{chip}</span>
            <button
              type="button"
              aria-label={`Remove ${chip}`}
              onClick={() =>
                write(
                  chips.filter((_, other) => other !== index),
                  text,
                )
              }
            >
              <Icon name="cross" />
            </button>
          </span>
        ))}
        <input
          id={SEARCH_BOX_ID}
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search deliveries"
          aria-expanded={isListed}
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
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onFocus={() => setFocused(true)}
          onBlur={() => {
            setFocused(false);
            // A field without a value would be an error.
            if (isUnfinished(lastTerm) && !/:"?$/.test(lastTerm)) commit();
          }}
        />
        {chips.length === 0 && text === "" && <kbd>/</kbd>}
      </div>
      {queryProblem.value !== "" && (
        <p class="search-problem" role="alert">
          <Icon name="warning" /> {queryProblem.value}
          <span class="hint">Below are the results of the search before.</span>
        </p>
      )}
      <div class="offers" id={listId} role="listbox" aria-label="Completions" hidden={!isListed}>
        {isListed &&
          offers.map((offer, index) => (
            <div
              key={offer.term}
              id={`${listId}-${index}`}
              role="option"
              class="offer"
              aria-selected={index === picked}
              onPointerDown={(event) => {
                event.preventDefault();
                take(offer);
              }}
            >
              <code>{offer.term}</code>
              <span class="hint">{offer.hint}</span>
            </div>
          ))}
      </div>
    </div>
  );
}
