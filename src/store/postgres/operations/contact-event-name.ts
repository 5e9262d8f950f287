/**
 * The name in a contact event's body, in a column of its own: PostgreSQL cannot read one field of a JSON text in which
 * another has U+0000 or half of a pair.
 */
export function nameOfContactEvent({ body }: { body: string }): string {
  const { name } = JSON.parse(body) as { name?: unknown };
  return typeof name === "string" ? name : "";
}
