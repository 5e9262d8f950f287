import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import { formatCount } from "../text/format.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";
import { EVENT_TYPES } from "../../protocol/event-types.js";
import { viewer } from "../api/calls.js";
import { readParam, setParams, SPAN_WORDS, TIME_SPANS } from "../state/address.js";
import { handlers, loadHandlers } from "../state/handlers.js";

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
      <Button class="small" aria-expanded={isOpen} run={() => setOpen(!isOpen)}>
        Filters <Icon name="chevron" />
      </Button>
      {isOpen && children}
      {isNarrowed && (
        <Button
          icon="cross"
          label="Show all"
          class="small"
          run={() => setParams(Object.fromEntries(params.map((name) => [name, ""])))}
        />
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
  return <ChoiceFilter name="span" label="Time" all="Any time" choices={[...TIME_SPANS.keys()]} words={SPAN_WORDS} />;
}

interface StateChoiceOptions<State extends string> {
  states: readonly State[];
  /** The chosen state, "" for all. */
  current: string;
  /** Shows a state's name. */
  Badge: ComponentType<{ state: State }>;
  /** By state, as far as it is known. */
  counts: Partial<Record<string, number>>;
}

/** All, or one state of a list, with the number in each. A click shows the list. */
export function StateChoice<State extends string>({ states, current, Badge, counts }: StateChoiceOptions<State>) {
  const choices: readonly (State | "")[] = ["", ...states];
  return (
    <div class="state-choice" role="group" aria-label="State">
      {choices.map((state) => {
        const count = counts[state];
        return (
          <button
            type="button"
            class="band"
            key={state}
            aria-pressed={state === current}
            onClick={() => setParams({ state })}
          >
            {state === "" ? "all" : <Badge state={state} />}
            {count !== undefined && <b>{formatCount(count)}</b>}
          </button>
        );
      })}
    </div>
  );
}

/** Also handlers that the code has no more, while they have unfinished work. */
export function HandlerFilter() {
  useEffect(() => void loadHandlers(), []);
  const registered = viewer.value?.handlers ?? [];
  const choices = [...new Set([...registered, ...handlers.value.map(({ handler }) => handler)])];
  return <ChoiceFilter name="handler" label="Handler" all="All handlers" choices={choices} />;
}

export function TypeFilter() {
  return <ChoiceFilter name="type" label="Event type" all="All types" choices={EVENT_TYPES} />;
}
