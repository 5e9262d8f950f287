import type { DevEvent } from "./dev-event.js";
import { deliveryLines } from "./delivery-lines.js";
import type { EventLine, Tone, Part } from "./event-line.js";
import { remarkLines } from "./remark-lines.js";
import { workLines } from "./work-lines.js";
import { escapeControls } from "../../base/text.js";

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
      case "app_down":
      case "replayed":
        return deliveryLines(event, nowMs, width() < NARROW);
      case "handler_failed":
      case "no_handler":
        return workLines(event, nowMs, options.inboxFlag);
      case "tunnel":
        // The first URL is in the lines of the start. A later one is shown here.
        return event.state === "up" && !isReady ? [] : remarkLines(event, nowMs);
      case "refused":
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

type ReadyEvent = Extract<DevEvent, { kind: "ready" }>;

/** The first lines: where to send, where deliveries are forwarded and where to look. */
function readyLines(ready: ReadyEvent): EventLine[] {
  const { captureUrl, publicUrl, forwards, sandbox, pageUrl, secrets, broken } = ready;
  const lines: Part[][] = [
    field("Receiving", captureUrl),
    ...(publicUrl === null ? [] : [field("Public", escapeControls(publicUrl))]),
    ...forwards.map(({ types, target }) => field("Forwarding", target, types === "*" ? "" : `  ← ${types}`)),
    ...(forwards.length === 0
      ? [field("Forwarding", "nowhere", "  deliveries are kept; -f 3000 forwards them to port 3000")]
      : []),
    ...inboxField(ready),
    ...(sandbox === null
      ? []
      : [field("Sandbox", sandbox, "  emulated service; fire events from the page or by POST /sandbox/emit")]),
    ...(pageUrl === null ? [] : [field("Inspect", pageUrl)]),
    secrets.length === 0
      ? field("Secret", "none", "  signatures are not checked; set WEBHOOK_SECRET or give --secret")
      : field("Secret", escapeControls(secrets.join(", "))),
    ...broken.map(({ file, reason }): Part[] => [["warn", `  ! ${escapeControls(file)}: ${escapeControls(reason)}`]]),
    [["good", "  Ready."]],
  ];
  return lines.map((parts) => ({ parts, isWhole: true }));
}

function inboxField({ inbox, forwards }: ReadyEvent): Part[][] {
  if (inbox !== null) return [field("Inbox", escapeControls(inbox))];
  if (forwards.length === 0) return [];
  return [field("Inbox", "not known", "  --inbox with the app's database shows what handlers do")];
}

function field(name: string, value: string, note = ""): Part[] {
  return [
    ["dim", `  ${name.padEnd(12)}`],
    ["strong", value],
    ["dim", note],
  ];
}
