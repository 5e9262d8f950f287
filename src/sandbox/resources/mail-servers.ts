import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, type Resolved, defineOptions, flag, given, list, oneOf, readBy } from "../../base/options.js";
import { foldAddress } from "../../contract/contact-address.js";
import { domainOf } from "../access/allowlists.js";
import { domainOption } from "../api/addresses.js";

/** A mail server as the API shows it. */
export interface MailHost {
  /** Its name, such as `imap.example.net`. */
  host: string;
  /** 993 or 143 for reading, 465 or 587 for sending. */
  port: number;
  /** `tls` from the beginning, or `starttls`. */
  security: "tls" | "starttls";
}

/**
 * The mail servers of a domain outside the workspace, and what they say to each of its mailboxes, whichever host is
 * named for it. The sandbox knows no others, and never signs in anywhere.
 */
export interface MailServerInput {
  /** The domain of the addresses. */
  domain: string;
  /** Name of the provider, of which the values are not documented. @default "other" */
  provider?: string | undefined;
  /** How people sign in; `vendor`: only in the app. @default "password" */
  signIn?: "app-password" | "password" | "vendor" | undefined;
  /** The server for reading; `"none"`: none is found for the domain. @default `imap.` and the domain, 993, tls */
  imap?: MailHost | "none" | undefined;
  /** The server for sending; `"none"`: none is found for the domain. @default `smtp.` and the domain, 465, tls */
  smtp?: MailHost | "none" | undefined;
  /** The password that they accept. @default any */
  password?: string | undefined;
  /** False: the servers do not answer. @default true */
  reachable?: boolean | undefined;
  /** False: the server for sending refuses the sign-in. @default true */
  sends?: boolean | undefined;
  /** True: another workspace has connected the mailboxes. @default false */
  elsewhere?: boolean | undefined;
  /** Addresses that are connected when the sandbox begins, as with a vendor's sign-in in the app. @default [] */
  connected?: readonly string[] | undefined;
}

/** The defaults and checks of {@link MailServerInput}. */
export const MAIL_SERVER_OPTIONS = defineOptions("An entry of mailServers", {
  domain: domainOption,
  provider: given<string>({ default: "other" }),
  signIn: oneOf(["app-password", "password", "vendor"], { default: "password" }),
  imap: readBy(readHost),
  smtp: readBy(readHost),
  password: readBy(readPassword),
  reachable: flag({ default: true }),
  sends: flag({ default: true }),
  elsewhere: flag({ default: false }),
  connected: list<string>({ default: [] }),
} satisfies OptionsOf<MailServerInput>);

interface MailServer extends Resolved<typeof MAIL_SERVER_OPTIONS> {
  imap: MailHost | null;
  smtp: MailHost | null;
}

/** How a sign-in or a sync ends. */
type SignInOutcome = "accepted" | "refused" | "send_refused" | "no_answer";

/** The servers outside the workspace, by the domain of their addresses. */
export class MailServers {
  readonly #initial: readonly MailServerInput[];
  readonly #servers = new Map<string, MailServer>();

  /** Throws `invalid_option`. */
  constructor(initial: readonly MailServerInput[]) {
    this.#initial = initial;
    this.reset();
  }

  /** Every entry. */
  get all(): readonly MailServer[] {
    return [...this.#servers.values()];
  }

  /** Adds the servers of a domain, in place of those that it had. Throws `invalid_option`. */
  set(server: MailServerInput): void {
    const resolved = MAIL_SERVER_OPTIONS.resolve(server);
    const { domain, connected } = resolved;
    const stranger = connected.find((email: unknown) => typeof email !== "string" || !isOf(email, domain));
    if (stranger !== undefined) {
      throw new PigeonholeError("invalid_option", `An entry of mailServers: connected has no address of ${domain}.`);
    }
    const { imap = hostOf(`imap.${domain}`, 993), smtp = hostOf(`smtp.${domain}`, 465) } = resolved;
    this.#servers.set(domain, { ...resolved, imap, smtp });
  }

  /** The servers that are found for an address. */
  find(email: string): MailServer | undefined {
    return this.#servers.get(domainOf(email));
  }

  /** Signs in to both servers of a mailbox. `password`: undefined for a vendor's sign-in, which is in the app. */
  signIn({ email, password }: { email: string; password: string | undefined }): SignInOutcome {
    const server = this.find(email);
    if (server?.reachable !== true) return "no_answer";
    if (password !== undefined && (server.password ?? password) !== password) return "refused";
    return server.sends ? "accepted" : "send_refused";
  }

  /** The servers that it began with. */
  reset(): void {
    this.#servers.clear();
    for (const server of this.#initial) this.set(server);
  }
}

function isOf(email: string, domain: string): boolean {
  return email.includes("@") && domainOf(foldAddress(email)) === domain;
}

function hostOf(host: string, port: number): MailHost {
  return { host, port, security: "tls" };
}

function readPassword(option: string, password?: string): string | undefined {
  if (password === undefined || typeof password === "string") return password;
  throw new PigeonholeError("invalid_option", `${option} must be a text.`);
}

function readHost(option: string, given?: MailHost | "none"): MailHost | null | undefined {
  if (given === undefined) return undefined;
  if (given === "none") return null;
  const { host, port, security } = given;
  const isSecure = security === "tls" || security === "starttls";
  if (typeof host === "string" && Number.isInteger(port) && isSecure) return { host, port, security };
  throw new PigeonholeError("invalid_option", `${option} must be "none" or { host, port, security }.`);
}
