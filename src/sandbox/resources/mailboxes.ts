import { HOUR } from "../../base/duration.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import { foldAddress } from "../../contract/contact-address.js";
import type { Contract } from "../../contract/contract.js";
import { MAILBOX_LIMITS } from "../../contract/mailboxes.js";
import type { BodyInput, ResultFields } from "../../contract/operation.js";
import { domainOf } from "../access/allowlists.js";
import { type ApiHandlers, type Caller, SandboxApiError, invalidParameter } from "../api/api-handlers.js";
import { Collection } from "../api/collection.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { MailHost, MailServers } from "./mail-servers.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** Neither number is documented. */
const MAX_ADDRESSES = 100;
const LOOK_UPS_PER_HOUR = 60;

type MailboxFields = ResultFields<Contract["mailboxes"]["get"]>;

interface MailboxRow extends Omit<MailboxFields, "status" | "pauseReason" | "lastError" | "imap" | "smtp"> {
  /** Null where no server was found. */
  imap: MailHost | null;
  smtp: MailHost | null;
  addressId: string;
  /** Kept sealed; undefined for a vendor's sign-in. */
  password: string | undefined;
  isPaused: boolean;
}

/** What people say of a mailbox, and what was found for it. */
type NewMailbox = Omit<MailboxRow, keyof typeof UNUSED | "id" | "addressId" | "createdAt" | "historyImportId">;

/** A mailbox that was not paused or synced yet. */
const UNUSED = { isPaused: false, lastSyncedAt: null } satisfies Partial<MailboxRow>;

/** Connected mailboxes. See docs/service.md#connected-mailboxes. */
export function createMailboxes(workspace: Workspace): SandboxResource<"mailboxes"> {
  const { owned, mailServers, clock } = workspace;
  const { mailboxes, add, reset } = connectedMailboxes(workspace);
  const { signIns, lookUps, requireSignIn } = signInRules(workspace);
  const bodyOf = (mailbox: MailboxRow): object => {
    const { isPaused: _, password: __, ...row } = mailbox;
    return { ...row, ...stateOf(mailbox, mailServers) };
  };

  const handlers: ApiHandlers["mailboxes"] = {
    list: () => mailboxes.rows.toReversed().map(bodyOf),
    get: ({ params }) => bodyOf(mailboxes.get(params.id)),
    discover({ body, caller }) {
      lookUps.take(personOf(caller), 1, clock.now());
      const email = foldAddress(body.email);
      const { provider = null, signIn = "password", imap = null, smtp = null } = mailServers.find(email) ?? {};
      return { object: "mailbox_discovery", email, provider, signIn, imap, smtp };
    },
    connect({ body: { importHistory, ...body }, caller }) {
      const mailbox = readMailbox(workspace, body, caller);
      if (mailboxes.rows.some(({ email }) => email === mailbox.email)) {
        throw new SandboxApiError({ code: "connected_mailbox_already_connected", param: "email" });
      }
      requireSignIn(caller, mailbox);
      const row = add(mailbox, importHistory);
      return { id: row.id, addressId: row.addressId, status: stateOf(row, mailServers).status };
    },
    update({ params, body: { paused, password, label }, caller }) {
      const row = mailboxes.get(params.id);
      if (password !== undefined) requireSignIn(caller, { ...row, password });
      const resumed = { ...row, password: password ?? row.password, isPaused: false };
      if (paused !== undefined && stateOf(resumed, mailServers).status === "needs-sign-in") {
        throw invalidParameter("paused", "The mailbox needs a new password first.");
      }
      const changed = mailboxes.change(row.id, { isPaused: paused, label, password });
      const { status, pauseReason } = stateOf(changed, mailServers);
      return { id: row.id, status, pauseReason, label: changed.label };
    },
    sync({ params }) {
      const row = mailboxes.get(params.id);
      const lastSyncedAt = isoNow(clock);
      if (stateOf(row, mailServers).status === "active") mailboxes.change(row.id, { lastSyncedAt });
      // Answered at once, with the mailbox as it was.
      return bodyOf(row);
    },
    disconnect({ params }) {
      const { id, addressId, email } = mailboxes.get(params.id);
      owned.disconnect(email);
      return mailboxes.delete(id, { addressId, email });
    },
  };
  return {
    handlers,
    rows: () => mailboxes.rows.map(bodyOf),
    reset() {
      for (const limit of [signIns, lookUps]) limit.reset();
      reset();
    },
  };
}

/** The mailboxes, and their addresses. */
function connectedMailboxes({ clock, makeId, owned, mailServers }: Workspace) {
  const mailboxes = new Collection<MailboxRow>({
    kind: "connected_mailbox",
    idOf: ({ addressId }) => addressId.replace("adr_", "cmb_"),
    missing: { code: "connected_mailbox_not_found" },
  });
  let made = 0;

  function add(mailbox: NewMailbox, importHistory = false): MailboxRow {
    made += 1;
    owned.connect(mailbox.email);
    return mailboxes.add({
      ...mailbox,
      addressId: `adr_${makeId.hex(`mailbox ${made}`)}`,
      createdAt: isoNow(clock),
      historyImportId: importHistory ? `imp_${makeId.hex(`history import ${made}`)}` : null,
      ...UNUSED,
    });
  }

  /** Those that are connected from the start. */
  function reset(): void {
    for (const { email } of mailboxes.rows) owned.disconnect(email);
    mailboxes.clear();
    mailServers.reset();
    for (const { provider, signIn: method, imap, smtp, password, connected } of mailServers.all) {
      for (const email of connected.map(foldAddress)) {
        add({ email, label: null, provider, method, connectedBy: "@owner", username: email, imap, smtp, password });
      }
    }
  }

  return { mailboxes, add, reset };
}

/** How often a person may sign in and look servers up, and what a sign-in is answered. */
function signInRules({ clock, mailServers }: Workspace) {
  const signIns = hourlyLimit(MAILBOX_LIMITS.signInsPerHour, "Too many sign-ins to mailboxes in an hour.");
  const lookUps = hourlyLimit(LOOK_UPS_PER_HOUR, "Too many look-ups of mail servers in an hour.");

  /** Throws 400 for a vendor's mailbox, 429, or what the servers refused. */
  function requireSignIn(caller: Caller, mailbox: NewMailbox): void {
    if (mailbox.method === "vendor") {
      throw new SandboxApiError({ code: "connected_mailbox_no_password", param: "password" });
    }
    signIns.take(personOf(caller), 1, clock.now());
    const outcome = mailServers.signIn(mailbox);
    if (outcome === "accepted") return;
    const code = outcome === "send_refused" ? "connected_mailbox_send_sign_in_failed" : "mailbox_login_failed";
    throw new SandboxApiError({ code });
  }
  return { signIns, lookUps, requireSignIn };
}

type Connection = Omit<BodyInput<Contract["mailboxes"]["connect"]>, "importHistory">;

/** The mailbox that a connection asks for. Throws what keeps its address from being connected, before any sign-in. */
function readMailbox({ options, owned, mailServers }: Workspace, body: Connection, caller: Caller): NewMailbox {
  const email = foldAddress(body.email);
  const found = mailServers.find(email);
  const refuse = (code: ApiErrorCode, param = "email"): never => {
    throw new SandboxApiError({ code, param });
  };
  if (options.domains.includes(domainOf(email)) || options.addresses.includes(email)) {
    refuse("connected_mailbox_domain_hosted");
  }
  if (found?.signIn === "vendor") refuse("mailbox_uses_vendor");
  if (found?.elsewhere === true) refuse("connected_mailbox_connected_elsewhere");
  if (owned.addresses.length >= MAX_ADDRESSES) throw new SandboxApiError({ code: "workspace_limit_reached" });
  const { host, port, security, smtpHost, smtpPort, smtpSecurity } = body;
  const imap =
    hostOf(IMAP_PORTS, "port", { host, port, security }) ?? found?.imap ?? refuse("mailbox_settings_unknown", "host");
  const smtp =
    hostOf(SMTP_PORTS, "smtpPort", { host: smtpHost, port: smtpPort, security: smtpSecurity }) ??
    found?.smtp ??
    refuse("connected_mailbox_send_server_unknown", "smtpHost");
  const { password, username = email, label = null } = body;
  const { provider = "other", signIn: method = "password" } = found ?? {};
  return { email, label, provider, method, connectedBy: `@${personOf(caller)}`, username, imap, smtp, password };
}

/** The documented ports. */
const IMAP_PORTS = { tls: 993, starttls: 143 };
const SMTP_PORTS = { tls: 465, starttls: 587 };

/** A server that was given; its port and its security follow from one another. Throws 422 for other ports. */
function hostOf(
  ports: typeof IMAP_PORTS,
  param: string,
  { host, port, security }: { [Field in keyof MailHost]?: MailHost[Field] | undefined },
): MailHost | undefined {
  const spoken = security ?? (port === ports.starttls ? "starttls" : "tls");
  const isKnown = host === undefined ? (port ?? security) === undefined : (port ?? ports[spoken]) === ports[spoken];
  if (!isKnown)
    throw invalidParameter(param, `Must be ${ports.tls} with tls or ${ports.starttls} with starttls of a host.`);
  return host === undefined ? undefined : { host, port: ports[spoken], security: spoken };
}

/** A mailbox is what its servers say now: no sync is waited for. A sync only reads. */
function stateOf(mailbox: Pick<MailboxRow, "email" | "password" | "isPaused">, mailServers: MailServers) {
  if (mailbox.isPaused) return { status: "paused", pauseReason: "by-person", lastError: null };
  switch (mailServers.signIn(mailbox)) {
    case "refused":
      return { status: "needs-sign-in", pauseReason: "sign-in", lastError: "The provider refuses the password." };
    case "no_answer":
      return { status: "failing", pauseReason: "unreachable", lastError: "The provider's server does not answer." };
    case "accepted":
    case "send_refused":
      return { status: "active", pauseReason: null, lastError: null };
  }
}

/** An API key acts for the owner. */
function personOf({ member }: Caller): string {
  return member ?? "owner";
}

function hourlyLimit(max: number, message: string): SlidingLimit {
  return new SlidingLimit({ max, windowMs: HOUR, code: "mailbox_checks_limited", message });
}
