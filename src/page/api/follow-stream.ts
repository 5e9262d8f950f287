import { addressOf } from "./face.js";

interface StreamListener<Messages> {
  /** What is done with each message. */
  onMessage: { [Name in keyof Messages]: (message: Messages[Name]) => void };
  /** Also after a reconnect, when something may have been missed. */
  onOpen: () => void;
  /** `isRefused`: the server answered, but with no stream. It is asked for one again, and this called again. */
  onLost: (isRefused: boolean) => void;
}

/** Wait before a refused stream is requested again. */
const REOPEN_MS = 3000;

/** Follows the server while the page is open. */
export function followStream<Messages>({ onMessage, onOpen, onLost }: StreamListener<Messages>): void {
  const open = () => {
    const source = new EventSource(addressOf("api/stream"));
    for (const [name, receive] of Object.entries<(message: never) => void>(onMessage)) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => receive(JSON.parse(data) as never));
    }
    source.addEventListener("open", onOpen);
    source.addEventListener("error", () => {
      // The browser reconnects by itself with the id of the last event, except after a refusal.
      const isRefused = source.readyState === EventSource.CLOSED;
      onLost(isRefused);
      if (isRefused) setTimeout(open, REOPEN_MS);
    });
  };
  open();
}
