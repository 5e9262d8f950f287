import { hideSecrets } from "../base/hide-secrets.js";
import { UNDECODABLE_TEXTS } from "../protocol/undecodable-texts.js";
import type { PayloadAccess } from "./api/session.js";

/** In place of a message that must not be seen. */
export const HIDDEN_TEXT = "[hidden]";

/** They quote nothing. */
const OWN_TEXTS: ReadonlySet<string> = new Set(Object.values(UNDECODABLE_TEXTS));

const CAUSED_BY = "\nCaused by: ";
/** What a handler threw begins with the name of the error, as the receiver keeps it; a broken rule, with a path. */
const NAME = /^(?!data\.)(?:A value that is not an Error|[A-Za-z_$][\w$.]{0,79}): ?/;
/** A cause is only known by its line, which a message could have. */
const CAUSE_NAME = /^(?:A value that is not an Error|[A-Za-z_$][\w$]{0,70}(?:Error|Exception)|Error): ?/;
/** Names of functions, as code has them: nothing that a person wrote as words. */
const FUNCTION = /(?:async )?(?:new )?[\w$.#<>]{1,100}(?: \[as [\w$.#<>]{1,100}\])?/;
/** Of a file on disk or in a bundle. Folders of packages may have an @. */
const PLACE =
  /(?:node:|[a-z][a-z-]{0,30}:\/\/|[A-Za-z]:\\|\/)(?:[^\s()@]{0,500}\/node_modules\/[^\s()]{1,500}|[^\s()@]{1,500}):\d+:\d+/;
const NO_PLACE = /<anonymous>|native|index \d+/;
const FRAME = new RegExp(
  `^ {4}at (?:${FUNCTION.source} \\((?:${PLACE.source}|${NO_PLACE.source})\\)|(?:async )?${PLACE.source}|<anonymous>)$`,
);

/** What shows texts in which code may have written anything. */
export interface ShowTexts {
  error: (error: string) => string;
  /** Such as the names that handlers give to steps. */
  text: (text: string) => string;
}

/** To people who see so much of payloads. */
export function showTexts(rule: PayloadAccess): ShowTexts {
  const text = rule === "hidden" ? () => HIDDEN_TEXT : hideSecrets;
  return { error: (error) => showError(error, text), text };
}

/** An error as it is kept, also with its stack and its causes: names and frames stay, `hide` changes messages. */
export function showError(error: string, hide: (message: string) => string): string {
  if (OWN_TEXTS.has(error)) return error;
  return error
    .split(CAUSED_BY)
    .map((part, index) => showPart(part, index === 0 ? NAME : CAUSE_NAME, hide))
    .join(CAUSED_BY);
}

function showPart(part: string, named: RegExp, hide: (message: string) => string): string {
  const lines = part.split("\n");
  // Only frames of code that are behind all else are of the stack.
  const end = lines.findLastIndex((line, index) => index === 0 || !FRAME.test(line)) + 1;
  const text = lines.slice(0, end).join("\n");
  const [name = ""] = named.exec(text) ?? [];
  const message = text.slice(name.length);
  return [name + (message === "" ? "" : hide(message)), ...lines.slice(end)].join("\n");
}
