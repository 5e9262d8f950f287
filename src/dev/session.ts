import { readPackageVersion } from "../base/package-version.js";
import { targetUrl } from "../capture/send/target.js";
import type { NamedSecret } from "../capture/model/judge-signature.js";
import { DEVELOPER } from "./page-port/page-listener.js";
import type { Session } from "./api/page-api.js";
import type { ForwardRule } from "./forward/forward-rules.js";
import type { DevEvent } from "./lines/dev-event.js";

/** What the page needs to know about this run. Names of secrets, never the secrets. */
export function describeSession(input: {
  captureUrl: string;
  publicUrl: string | null;
  /** A forward without a path is shown with this one, which deliveries have and it gets. */
  path: string;
  rules: readonly ForwardRule[];
  secrets: readonly NamedSecret[];
  /** The inbox, if there is one. */
  database: string | null;
  sandbox: boolean;
  captures: number;
}): Session {
  const { captureUrl, publicUrl, path, rules, secrets, database, sandbox, captures } = input;
  return {
    ...DEVELOPER,
    version: readPackageVersion(),
    database,
    handlers: [],
    captureUrl,
    publicUrl,
    forwards: rules.map(({ types, target }) => ({ types, target: targetUrl(target, { path, query: "" }) })),
    secrets: secrets.map(({ ref }) => ref),
    inbox: database !== null,
    sandbox,
    captures,
  };
}

type ReadyEvent = Extract<DevEvent, { kind: "ready" }>;

/** The first event of a run. */
export function readyEvent(
  { captureUrl, publicUrl, forwards, secrets, captures }: Session,
  about: Pick<ReadyEvent, "pageUrl" | "inbox" | "sandbox" | "broken">,
): ReadyEvent {
  return { kind: "ready", captureUrl, publicUrl, forwards, secrets, captures, ...about };
}
