import type { DevEvent } from "./dev-event.js";
import { deliveryLines } from "./delivery-lines.js";
import type { EventLine, Tone } from "./event-line.js";
import { readyLines } from "./ready-lines.js";
import { remarkLines } from "./remark-lines.js";
import { workLines } from "./work-lines.js";

/** Adds colour to text without changing its characters. */
export type TonePaint = (tone: Tone, text: string) => string;

export interface LineWriterOptions {
  /** @default no colour */
  paint?: TonePaint;
  /**
   * Columns of the terminal, read for every line; lines are cut to it. 0 if the terminal does not know. @default never
   * cut
   */
  columns?: () => number | undefined;
  /**
   * What a command for a person needs to find the inbox, such as ` --db inbox.db`; empty if nothing. @default no
   * command is written. Read for each event.
   */
  inboxFlag?: string | undefined;
}

/** Below this width only time, type and status are shown. */
const NARROW = 60;

const plainPaint: TonePaint = (_, text) => text;

/**
 * Formats the dev server's events as lines for people. Each line about a delivery has its capture's short name, which
 * the page shows and the commands accept. Control characters in untrusted text are escaped.
 */
export function createLineWriter(options: LineWriterOptions = {}) {
  const { paint = plainPaint, columns = () => undefined } = options;
  let isReady = false;

  function width(): number {
    const known = columns() ?? 0;
    return known > 0 ? known : Number.MAX_SAFE_INTEGER;
  }

  function render({ parts, isWhole = false }: EventLine): string {
    let left = isWhole ? Number.MAX_SAFE_INTEGER : width();
    let line = "";
    for (const [tone, text] of parts) {
      if (left <= 0) break;
      const cut = text.length > left ? `${text.slice(0, Math.max(0, left - 1))}…` : text;
      left -= cut.length;
      if (cut !== "") line += paint(tone, cut);
    }
    return line.trimEnd();
  }

  function linesOf(event: DevEvent, nowMs: number): EventLine[] {
    switch (event.kind) {
      case "ready":
        isReady = true;
        return readyLines(event);
      case "forwarded":
      case "received":
      case "held":
      case "app_down":
      case "rejected":
      case "delivered":
      case "replayed":
        return deliveryLines(event, nowMs, width() < NARROW);
      case "handler_failed":
      case "no_handler":
        return workLines(event, nowMs, options.inboxFlag);
      case "tunnel":
        // The first URL is in the lines of the start. A later one is shown here.
        return event.state === "up" && !isReady ? [] : remarkLines(event, nowMs);
      case "refused":
      case "paused":
      case "resumed":
      case "registered":
      case "registration_moved":
      case "swept":
      case "unregistered":
      case "problem":
      case "inbox_found":
      case "closed":
        return remarkLines(event, nowMs);
    }
  }

  return {
    /** The lines of an event; none if it is of no interest. */
    write: (event: DevEvent, nowMs = Date.now()): string[] => linesOf(event, nowMs).map(render),
  };
}
