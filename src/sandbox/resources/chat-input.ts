/** A conversation with the assistant to begin with; the API cannot make one. */
export interface ChatInput {
  /** Its title. */
  title: string;
  /** A UUID. @default made from the seed */
  id?: string | undefined;
  /** Its kind, of which the values are not documented. @default "assistant" */
  kind?: string | undefined;
  /** Number of its messages. @default 2 */
  messageCount?: number | undefined;
  /** When it was last used, ISO 8601. @default the time at which the sandbox begins */
  updatedAt?: string | undefined;
}
