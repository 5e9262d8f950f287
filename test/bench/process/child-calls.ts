/** Functions a child process offers to its parent over IPC: one argument, a promise of a JSON value. */
export type Calls = Record<string, Call["call"]>;

/** Written as a method, whose argument may be narrower: the parent is typed with the same functions. */
interface Call {
  call(argument: unknown): Promise<unknown>;
}

/** A call on its way to the child. */
export interface CallMessage {
  id: number;
  name: string;
  argument: unknown;
}

/** Its answer. */
export interface ReplyMessage {
  id: number;
  value?: unknown;
  error?: string;
}

/** Answers the parent's calls until it goes away; then the process ends. */
export function serveCalls(calls: Calls): void {
  const answer = async (message: CallMessage): Promise<void> => {
    const reply: ReplyMessage = { id: message.id };
    try {
      const call = calls[message.name];
      if (!call) throw new Error(`this process has no call ${message.name}`);
      reply.value = await call(message.argument);
    } catch (error) {
      reply.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    process.send?.(reply);
  };
  process.on("message", (message: CallMessage) => void answer(message));
  process.on("disconnect", () => process.exit());
  process.on("SIGTERM", () => process.exit());
}
