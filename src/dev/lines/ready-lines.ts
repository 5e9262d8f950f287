import { escapeControls } from "../../base/text.js";
import type { DevEvent } from "./dev-event.js";
import type { EventLine, Part } from "./event-line.js";

type ReadyEvent = Extract<DevEvent, { kind: "ready" }>;

/** The first lines: where to send, where deliveries are forwarded and where to look. */
export function readyLines(ready: ReadyEvent): EventLine[] {
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
