import type { CaptureFolder } from "../capture/folder/capture-folder.js";
import { targetUrl } from "../capture/send/target.js";
import type { Session } from "./api/page-api.js";
import type { DevEvent } from "./dev-event.js";

type ReadyEvent = Extract<DevEvent, { kind: "ready" }>;

/** The first event of a run. A forward without a path is shown with that of the deliveries, which it gets. */
export function readyEvent(input: {
  session: Session;
  path: string;
  pageUrl: string | null;
  inbox: string | null;
  sandbox: string | null;
  folder: CaptureFolder;
}): ReadyEvent {
  const { session, path, pageUrl, inbox, sandbox, folder } = input;
  const { captureUrl, publicUrl, forwards, secrets, captures } = session;
  return {
    kind: "ready",
    captureUrl,
    publicUrl,
    pageUrl,
    inbox,
    sandbox,
    forwards: forwards.map(({ types, target }) => ({ types, target: targetUrl(target, { path, query: "" }) })),
    secrets,
    captures,
    broken: folder.broken.map(({ file, reason }) => ({ file, reason })),
  };
}
