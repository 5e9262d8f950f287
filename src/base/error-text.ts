/** The message of an error, or the text of whatever else was thrown. It may quote anything: not for logs. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The class of an error, or the type of whatever else was thrown. It quotes nothing. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
