import { SandboxApiError } from "../api/api-handlers.js";
import { invalidParameter } from "../endpoints/check-endpoint.js";
import type { MailHost } from "./mail-servers.js";

/** What a caller says of one server; every field may be missing. */
interface GivenServer {
  host?: string | undefined;
  port?: number | undefined;
  security?: "tls" | "starttls" | undefined;
}

/** What a connection says of both. */
interface GivenSettings extends GivenServer {
  smtpHost?: string | undefined;
  smtpPort?: number | undefined;
  smtpSecurity?: "tls" | "starttls" | undefined;
}

/** The servers that were found for an address. */
interface FoundServers {
  imap: MailHost | null;
  smtp: MailHost | null;
}

type SpokenPort = Omit<MailHost, "host">;

/** The documented ports, and what each is spoken with. The first fitting one counts where none is given. */
const IMAP_PORTS: readonly SpokenPort[] = [
  { port: 993, security: "tls" },
  { port: 143, security: "starttls" },
];
const SMTP_PORTS: readonly SpokenPort[] = [
  { port: 465, security: "tls" },
  { port: 587, security: "starttls" },
];

/**
 * Both servers of a connection: those that were given, or else those that were found. Throws 400
 * `mailbox_settings_unknown` and `connected_mailbox_send_server_unknown`, and 422 for a port that is not documented.
 */
export function readSettings(
  given: GivenSettings,
  found: FoundServers | undefined,
): { imap: MailHost; smtp: MailHost } {
  const { host, port, security, smtpHost, smtpPort, smtpSecurity } = given;
  const ofImap = readServer({ host, port, security }, { host: "host", port: "port", security: "security" }, IMAP_PORTS);
  const ofSmtp = readServer(
    { host: smtpHost, port: smtpPort, security: smtpSecurity },
    { host: "smtpHost", port: "smtpPort", security: "smtpSecurity" },
    SMTP_PORTS,
  );
  const [imap, smtp] = [ofImap ?? found?.imap, ofSmtp ?? found?.smtp];
  if (!imap) throw new SandboxApiError({ code: "mailbox_settings_unknown", param: "host" });
  if (smtp) return { imap, smtp };
  throw new SandboxApiError({ code: "connected_mailbox_send_server_unknown", param: "smtpHost" });
}

function readServer(
  { host, port, security }: GivenServer,
  names: Readonly<Record<keyof GivenServer, string>>,
  known: readonly SpokenPort[],
): MailHost | undefined {
  if (host === undefined) {
    const [extra] = [port === undefined ? [] : [names.port], security === undefined ? [] : [names.security]].flat();
    if (extra !== undefined) throw invalidParameter(extra, `It counts only with ${names.host}.`);
    return undefined;
  }
  const found = known.find((one) => (port ?? one.port) === one.port && (security ?? one.security) === one.security);
  if (found !== undefined) return { host, ...found };
  const isPortKnown = port === undefined || known.some((one) => one.port === port);
  const words = known.map((one) => `${one.port} with ${one.security}`).join(" or ");
  throw invalidParameter(isPortKnown ? names.security : names.port, `Must be ${words}.`);
}
