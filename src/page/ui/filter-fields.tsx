import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import { Icon } from "./icon.js";
import { readParam, setParams } from "../state/address.js";
import { TIME_SPANS } from "../state/time-span.js";

/** Combines the requests of fast typing. */
const SETTLE_MS = 250;

/** Pixels up to which a window has no room for all fields. */
const NARROW = 640;

interface FilterBarOptions {
  label: string;
  /** Parameters of the address that the fields set. */
  params: readonly string[];
  /** What the search field looks for, in its parameter `text`; without it the other fields are there at once. */
  search?: string;
  /** The other fields, behind a button. */
  children: ComponentChildren;
}

/** Fields that narrow a list, each of which is a parameter of the address. */
export function FilterBar({ label, params, search, children }: FilterBarOptions) {
  const isNarrowed = params.some((name) => readParam(name) !== "");
  const [isOpen, setOpen] = useState(
    search === undefined ? innerWidth > NARROW : params.some((name) => name !== "text" && readParam(name) !== ""),
  );
  return (
    <div class="list-filters" role="search" aria-label={label}>
      {search !== undefined && <TextFilter name="text" label={`Search ${search}`} />}
      <button type="button" class="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters <Icon name="chevron" />
      </button>
      {isOpen && children}
      {isNarrowed && (
        <button
          type="button"
          class="button small"
          onClick={() => setParams(Object.fromEntries(params.map((name) => [name, ""])))}
        >
          <Icon name="cross" /> Show all
        </button>
      )}
    </div>
  );
}

/** A text that the rows must have. */
export function TextFilter({ name, label }: { name: string; label: string }) {
  const text = readParam(name);
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped((now) => (now.trim() === text ? now : text)), [text]);
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => setParams({ [name]: typed.trim() }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      spellcheck={false}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

interface ChoiceFilterOptions {
  name: string;
  label: string;
  /** Text for no choice. */
  all: string;
  choices: readonly string[];
  /** How people call a choice. @default as it is */
  words?: ReadonlyMap<string, string>;
}

/** One of several values. What the address has is offered even if it is not known. */
export function ChoiceFilter({ name, label, all, choices, words }: ChoiceFilterOptions) {
  const chosen = readParam(name);
  const offered = [...new Set([...choices, chosen])].filter((each) => each !== "");
  return (
    <select aria-label={label} value={chosen} onChange={(event) => setParams({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {offered.map((each) => (
        <option key={each} value={each}>
          {words?.get(each) ?? escapeControls(each)}
        </option>
      ))}
    </select>
  );
}

/** How far the list looks back. */
export function TimeFilter() {
  return <ChoiceFilter name="span" label="Time" all="Any time" choices={[...TIME_SPANS.keys()]} words={WORDS} />;
}

const WORDS = new Map([...TIME_SPANS].map(([name, { label }]) => [name, label]));
