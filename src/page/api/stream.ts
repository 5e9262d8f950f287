import type { EventWork } from "../../operator/inbox-rows.js";
import type { Session } from "../../dev/api/page-api.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { addressOf } from "./address-of.js";

export interface StreamListener {
  onCaptures(captures: CaptureSummary[]): void;
  onRemoved(ids: string[]): void;
  onWork(work: EventWork[]): void;
  onSession(session: Session): void;
  /** Something has happened in the sandbox. */
  onSandbox(): void;
  /** Also after a reconnect, when something may have been missed. */
  onOpen(): void;
  onLost(): void;
}

/** Deliveries that arrive within this time are rendered together. */
const GATHER_MS = 16;

/** Wait before a refused stream is requested again. */
const REOPEN_MS = 2000;

/** Follows the dev server while the page is open. */
export function followStream(listener: StreamListener): void {
  const arrived: CaptureSummary[] = [];
  const worked: EventWork[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    timer = undefined;
    if (arrived.length > 0) listener.onCaptures(arrived.splice(0));
    if (worked.length > 0) listener.onWork(worked.splice(0));
  };
  const open = () => {
    const source = new EventSource(addressOf("api/stream"));
    const listen = (name: string, receive: (text: string) => void) =>
      source.addEventListener(name, (event: MessageEvent<string>) => receive(event.data));
    listen("capture", (text) => {
      arrived.push(JSON.parse(text) as CaptureSummary);
      timer ??= setTimeout(flush, GATHER_MS);
    });
    listen("work", (text) => {
      worked.push(JSON.parse(text) as EventWork);
      timer ??= setTimeout(flush, GATHER_MS);
    });
    listen("removed", (text) => listener.onRemoved((JSON.parse(text) as { ids: string[] }).ids));
    listen("session", (text) => listener.onSession(JSON.parse(text) as Session));
    listen("sandbox", () => listener.onSandbox());
    source.addEventListener("open", () => listener.onOpen());
    source.addEventListener("error", () => {
      listener.onLost();
      // The browser reconnects by itself with the id of the last event, except after a refusal.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, REOPEN_MS);
    });
  };
  open();
}
