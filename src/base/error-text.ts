/** The message of an error, or the text of whatever else was thrown. It may quote anything: not for logs. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The class of an error, or the type of whatever else was thrown. It quotes nothing. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return isErrorWord(error.name) ? error.name : "Error";
}

/** Names and codes of errors are such words. An app may put anything in their place, such as an address. */
export function isErrorWord(text: unknown): text is string {
  return typeof text === "string" && /^[\w$]{1,100}$/.test(text);
}
