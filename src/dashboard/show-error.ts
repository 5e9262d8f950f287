/** In place of a message that must not be seen. */
export const HIDDEN_TEXT = "[hidden]";

const CAUSED_BY = "\nCaused by: ";
/** What a handler threw begins with the name of the error, as the receiver keeps it. */
const NAME = /^(?:A value that is not an Error|[A-Za-z_$][\w$.]{0,79}): ?/;
const FRAME = /^\s+at (?:.+:\d+:\d+\)?|.*\(<anonymous>\)|.*\(native\)|<anonymous>)$/;

/** An error as it is kept, also with its stack and its causes: names and frames stay, `hide` changes the messages. */
export function showError(error: string, hide: (message: string) => string): string {
  return error
    .split(CAUSED_BY)
    .map((part) => showPart(part, hide))
    .join(CAUSED_BY);
}

function showPart(part: string, hide: (message: string) => string): string {
  const lines = part.split("\n");
  // A message may have lines that look like frames; those of the stack are behind it.
  const end = lines.findLastIndex((line, index) => index === 0 || !FRAME.test(line)) + 1;
  const text = lines.slice(0, end).join("\n");
  const [name = ""] = NAME.exec(text) ?? [];
  const message = text.slice(name.length);
  return [name + (message === "" ? "" : hide(message)), ...lines.slice(end)].join("\n");
}
