import type { CaptureFolder } from "../capture/folder/capture-folder.js";
import type { Session } from "./api/page-api.js";
import type { DevEvent } from "./lines/dev-event.js";

type ReadyEvent = Extract<DevEvent, { kind: "ready" }>;

/** The first event of a run. */
export function readyEvent(input: {
  session: Session;
  pageUrl: string | null;
  inbox: string | null;
  sandbox: string | null;
  folder: CaptureFolder;
}): ReadyEvent {
  const { session, pageUrl, inbox, sandbox, folder } = input;
  const { captureUrl, publicUrl, forwards, secrets, captures } = session;
  return {
    kind: "ready",
    captureUrl,
    publicUrl,
    pageUrl,
    inbox,
    sandbox,
    forwards,
    secrets,
    captures,
    broken: folder.broken.map(({ file, reason }) => ({ file, reason })),
  };
}
