import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, flag, given, list, oneOf, readBy } from "../../base/options.js";
import { domainOf } from "../access/allowlists.js";
import { foldAddress } from "../../contract/contact-address.js";
import { domainName } from "../api/read-domain.js";

/** A mail server as the API shows it. */
export interface MailHost {
  /** Its name, such as `imap.example.net`. */
  host: string;
  /** 993 or 143 for reading, 465 or 587 for sending. */
  port: number;
  /** `tls` from the beginning, or `starttls`. */
  security: "tls" | "starttls";
}

/** A mailbox at a provider. */
export interface MailAccountInput {
  /** Its address. */
  email: string;
  /** What its servers accept. @default none: it cannot be connected with a password */
  password?: string | undefined;
  /** The name that its servers ask for. @default the address */
  username?: string | undefined;
  /** False: the server for sending refuses the sign-in. @default true */
  sends?: boolean | undefined;
  /** True: another workspace has connected it. @default false */
  elsewhere?: boolean | undefined;
  /** True: it is connected when the sandbox begins, as with a vendor's sign-in in the app. @default false */
  connected?: boolean | undefined;
}

/** The mail servers of a domain outside the workspace. The sandbox knows no others, and never signs in anywhere. */
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
  /** False: the servers do not answer. @default true */
  reachable?: boolean | undefined;
  /** The mailboxes. @default every address of the domain, with any password */
  accounts?: readonly MailAccountInput[] | undefined;
}

/** The defaults and checks of {@link MailAccountInput}. */
export const MAIL_ACCOUNT_OPTIONS = defineOptions("An account of mailServers", {
  email: readBy(readText, { default: "" }),
  password: readBy(readOptionalText),
  username: readBy(readOptionalText),
  sends: flag({ default: true }),
  elsewhere: flag({ default: false }),
  connected: flag({ default: false }),
} satisfies OptionsOf<MailAccountInput>);

/** The defaults and checks of {@link MailServerInput}. */
export const MAIL_SERVER_OPTIONS = defineOptions("An entry of mailServers", {
  domain: domainName,
  provider: given<string>({ default: "other" }),
  signIn: oneOf(["app-password", "password", "vendor"], { default: "password" }),
  imap: readBy(readHost),
  smtp: readBy(readHost),
  reachable: flag({ default: true }),
  accounts: list<MailAccountInput>(),
} satisfies OptionsOf<MailServerInput>);

type MailAccount = ReturnType<typeof checkAccount>;
type MailServer = ReturnType<typeof checkServer>;

/** How a sign-in or a sync ends. */
type SignInOutcome = "accepted" | "refused" | "send_refused" | "no_answer";

/** What a mailbox signs in with. */
export interface SignIn {
  imap: MailHost;
  smtp: MailHost;
  username: string;
  password: string | undefined;
}

/** The servers outside the workspace, by the domain of their addresses. */
export class MailServers {
  readonly #initial: readonly MailServerInput[];
  readonly #servers = new Map<string, MailServer>();

  /** Throws `invalid_option`. */
  constructor(initial: readonly MailServerInput[]) {
    this.#initial = initial;
    this.reset();
  }

  /** Adds the servers of a domain, in place of those that it had. Throws `invalid_option`. */
  set(server: MailServerInput): void {
    const checked = checkServer(server);
    this.#servers.set(checked.domain, checked);
  }

  /** The servers that are found for an address. */
  find(email: string): MailServer | undefined {
    return this.#servers.get(domainOf(email));
  }

  /** Signs in to both servers. */
  signIn({ imap, smtp, username, password }: SignIn): SignInOutcome {
    const reading = this.#serverAt("imap", imap);
    if (reading?.reachable !== true) return "no_answer";
    if (!hasAccount(reading, username, (account) => account.password === password)) return "refused";
    const sending = this.#serverAt("smtp", smtp);
    const isAccepted = sending?.reachable === true && hasAccount(sending, username, ({ sends }) => sends);
    return isAccepted ? "accepted" : "send_refused";
  }

  /** The mailboxes that are connected from the beginning, with the servers of their domain. */
  get connected(): readonly (readonly [MailServer, MailAccount])[] {
    return [...this.#servers.values()].flatMap((server) =>
      (server.accounts ?? []).filter(({ connected }) => connected).map((account) => [server, account] as const),
    );
  }

  /** The servers that it began with. */
  reset(): void {
    this.#servers.clear();
    for (const server of this.#initial) this.set(server);
  }

  #serverAt(kind: "imap" | "smtp", { host, port }: MailHost): MailServer | undefined {
    return [...this.#servers.values()].find(
      (server) => server[kind]?.host.toLowerCase() === host.toLowerCase() && server[kind]?.port === port,
    );
  }
}

/** True when the server has an account of this name that fits. A server without a list has every account. */
function hasAccount({ accounts }: MailServer, username: string, fits: (account: MailAccount) => boolean): boolean {
  const name = foldAddress(username);
  return accounts === undefined || accounts.some((account) => account.username === name && fits(account));
}

function checkServer(given: MailServerInput) {
  const server = MAIL_SERVER_OPTIONS.resolve(given);
  const { domain } = server;
  return {
    ...server,
    imap: server.imap === undefined ? hostOf(`imap.${domain}`, 993) : server.imap,
    smtp: server.smtp === undefined ? hostOf(`smtp.${domain}`, 465) : server.smtp,
    accounts: server.accounts?.map((account) => checkAccount(account, domain)),
  };
}

function checkAccount(given: MailAccountInput, domain: string) {
  const account = MAIL_ACCOUNT_OPTIONS.resolve(given);
  const email = foldAddress(account.email);
  if (domainOf(email) !== domain || !email.includes("@")) {
    throw new PigeonholeError("invalid_option", `An account of mailServers must be an address of ${domain}.`);
  }
  return { ...account, email, username: foldAddress(account.username ?? email) };
}

function hostOf(host: string, port: number): MailHost {
  return { host, port, security: "tls" };
}

function readText(option: string, text: string): string {
  if (typeof text === "string") return text;
  throw new PigeonholeError("invalid_option", `${option} must be a text.`);
}

function readOptionalText(option: string, text?: string): string | undefined {
  return text === undefined ? undefined : readText(option, text);
}

function readHost(option: string, given?: MailHost | "none"): MailHost | null | undefined {
  if (given === undefined) return undefined;
  if (given === "none") return null;
  const { host, port, security } = given;
  const isSecure = security === "tls" || security === "starttls";
  if (typeof host === "string" && Number.isInteger(port) && isSecure) return { host, port, security };
  throw new PigeonholeError("invalid_option", `${option} must be "none" or { host, port, security }.`);
}
