interface SearchedEvent {
  id: string;
  type: string;
  handlers: readonly { handler: string; reason?: string | null | undefined; error?: string | null | undefined }[];
}

/** What a search for an event looks at, beside its payload. */
export function textsOfEvent({ id, type, handlers }: SearchedEvent): string[] {
  return [id, type, ...handlers.flatMap(({ handler, reason, error }) => [handler, reason ?? "", error ?? ""])];
}
