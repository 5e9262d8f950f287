import { useId, useRef, useState } from "preact/hooks";
import { query, queryProblem, setQuery } from "../state/captures.js";
import { session } from "../state/session.js";
import { Icon } from "../ui/icon.js";
import { completeTerm, isFieldTerm, splitQuery, type Completion } from "../state/search-terms.js";

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
  const lastWord = /\S*$/.exec(text)?.[0] ?? "";
  const types = session.value?.eventTypes.map(({ name }) => name) ?? [];
  const offers = isFocused ? completeTerm(lastWord, types).slice(0, 12) : [];
  const isListed = offers.length > 0 && (lastWord !== "" || text === "");

  const write = (nextChips: readonly string[], nextText: string) => {
    const next = [...nextChips, nextText.trim()].filter((part) => part !== "").join(" ");
    setDraft({ of: next, text: nextText });
    setQuery(next);
    setPicked(-1);
  };
  /** Words typed so far: a finished field term becomes a chip, an unfinished one waits. */
  const type = (nextText: string) => {
    const last = /\S*$/.exec(nextText)?.[0] ?? "";
    const before = nextText.slice(0, nextText.length - last.length);
    const { chips: made, words: rest } = splitQuery(before);
    if (made.length > 0) return write([...chips, ...made], rest === "" ? last : `${rest} ${last}`);
    // Sent only once it is a whole term, so that `type:` alone is not an error.
    if (isFieldTerm(last) || /^-?[\w.-]+:$/.test(last)) {
      setDraft({ of: query.value, text: nextText });
      setPicked(-1);
      return;
    }
    return write(chips, nextText);
  };
  const commit = () => {
    const { chips: made, words: rest } = splitQuery(text);
    write([...chips, ...made], rest);
  };
  const take = (offer: Completion) => {
    const before = text.slice(0, text.length - lastWord.length);
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
            if (isFieldTerm(lastWord)) commit();
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
