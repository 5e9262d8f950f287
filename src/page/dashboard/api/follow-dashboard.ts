import type { BulkJobList } from "../../../web/api/jobs.js";
import type { DashboardNow, StreamMessages } from "../../../web/api/now.js";
import { addressOf } from "../../api/address-of.js";

/** What is done with each message. */
type MessageListeners = { [Name in keyof StreamMessages]: (message: StreamMessages[Name]) => void };

interface DashboardListener {
  onMessage: MessageListeners;
  /** Also after a reconnect, when something may have been missed. */
  onOpen: () => void;
  /** `isRefused`: the app answered, but with no stream. It is asked for one again, and this called again, in 3 s. */
  onLost: (isRefused: boolean) => void;
}

/** Wait before a refused stream is requested again. */
const REOPEN_MS = 3000;

/** Follows the store while the page is open. */
export function followDashboard({ onMessage, onOpen, onLost }: DashboardListener): void {
  const open = () => {
    const source = new EventSource(addressOf("api/stream"));
    const listen = (name: string, receive: (text: string) => void) =>
      source.addEventListener(name, (event: MessageEvent<string>) => receive(event.data));
    listen("now", (text) => onMessage.now(JSON.parse(text) as DashboardNow));
    listen("figures", (text) => onMessage.figures(JSON.parse(text) as StreamMessages["figures"]));
    listen("jobs", (text) => onMessage.jobs(JSON.parse(text) as BulkJobList));
    listen("end", () => onMessage.end({}));
    source.addEventListener("open", onOpen);
    source.addEventListener("error", () => {
      // The browser reconnects by itself, except after a refusal.
      const isRefused = source.readyState === EventSource.CLOSED;
      onLost(isRefused);
      if (isRefused) setTimeout(open, REOPEN_MS);
    });
  };
  open();
}
