import { HOUR } from "../../base/duration.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import type { Contract } from "../../contract/contract.js";
import type { BodyInput } from "../../contract/operation.js";
import { MAILBOX_LIMITS } from "../../contract/mailboxes.js";
import { type ApiHandlers, type Caller, SandboxApiError } from "../api/api-handlers.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import { domainOf } from "../access/allowlists.js";
import { foldAddress } from "../../contract/contact-address.js";
import { invalidParameter } from "../endpoints/check-endpoint.js";
import { Collection, type CollectionRow, withoutSequence } from "../api/collection.js";
import type { MailHost, MailServers, SignIn } from "./mail-servers.js";
import { readSettings } from "./mailbox-settings.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** Neither number is documented. */
const MAX_ADDRESSES = 100;
const LOOK_UPS_PER_HOUR = 60;

/** What a mailbox signs in with, null where no server was found. */
interface SignInRow {
  username: string;
  imap: MailHost | null;
  smtp: MailHost | null;
  /** Kept sealed; undefined for a vendor's sign-in. */
  password: string | undefined;
}

interface MailboxRow extends CollectionRow, SignInRow {
  addressId: string;
  email: string;
  label: string | null;
  provider: string;
  method: string;
  createdAt: string;
  connectedBy: string;
  historyImportId: string | null;
  isPaused: boolean;
  /** When a sync was asked for that could be made. */
  lastSyncedAt: string | null;
}

type NewMailbox = Pick<MailboxRow, "email" | "label" | "provider" | "method" | "connectedBy" | keyof SignInRow>;

/** Connected mailboxes. See docs/service.md#connected-mailboxes. */
export function createMailboxes(workspace: Workspace): SandboxResource<"mailboxes"> {
  const { owned, mailServers, clock } = workspace;
  const { mailboxes, get, add, reset } = connectedMailboxes(workspace);
  const bodyOf = (row: MailboxRow): object => mailboxBody(row, mailServers);
  const limits = {
    signIns: hourlyLimit(MAILBOX_LIMITS.signInsPerHour, "Too many sign-ins to mailboxes in an hour."),
    lookUps: hourlyLimit(LOOK_UPS_PER_HOUR, "Too many look-ups of mail servers in an hour."),
  };
  const checks = signInChecks(workspace, mailboxes, limits.signIns);

  const handlers: ApiHandlers["mailboxes"] = {
    list: () => ({ body: mailboxes.rows.toReversed().map(bodyOf) }),
    get: ({ params }) => ({ body: bodyOf(get(params)) }),
    discover({ body, caller }) {
      limits.lookUps.take(personOf(caller), 1, clock.now());
      const email = foldAddress(body.email);
      const { provider = null, signIn = "password", imap = null, smtp = null } = mailServers.find(email) ?? {};
      return { body: { object: "mailbox_discovery", email, provider, signIn, imap, smtp } };
    },
    connect: ({ body, caller }) => ({ body: connectMailbox({ checks, add, mailServers }, body, caller) }),
    update({ params, body, caller }) {
      const row = get(params);
      const { paused, password, label } = body;
      if (password !== undefined) checks.requirePassword(row, password, caller);
      const signedIn = { ...row, password: password ?? row.password, isPaused: false };
      if (paused !== undefined && stateOf(signedIn, mailServers).status === "needs-sign-in") {
        throw invalidParameter("paused", "The mailbox needs a new password first.");
      }
      const changed = mailboxes.change(row.id, { isPaused: paused, label, password });
      const { status, pauseReason } = stateOf(changed, mailServers);
      return { body: { id: row.id, status, pauseReason, label: changed.label } };
    },
    sync({ params }) {
      const row = get(params);
      if (stateOf(row, mailServers).status === "active") {
        mailboxes.change(row.id, { lastSyncedAt: new Date(clock.now()).toISOString() });
      }
      // Answered at once, with the mailbox as it was.
      return { body: bodyOf(row) };
    },
    disconnect({ params }) {
      const { id, addressId, email } = get(params);
      owned.disconnect(email);
      return { body: mailboxes.delete(id, { addressId, email }) };
    },
  };

  return {
    handlers,
    rows: () => mailboxes.rows.map(bodyOf),
    reset() {
      limits.signIns.reset();
      limits.lookUps.reset();
      reset();
    },
  };
}

/** Connects a mailbox whose servers accept the sign-in. */
function connectMailbox(
  {
    checks,
    add,
    mailServers,
  }: Pick<Workspace, "mailServers"> & {
    checks: ReturnType<typeof signInChecks>;
    add: ReturnType<typeof connectedMailboxes>["add"];
  },
  body: BodyInput<Contract["mailboxes"]["connect"]>,
  caller: Caller,
): object {
  const email = foldAddress(body.email);
  checks.requireConnectable(email);
  const found = mailServers.find(email);
  const settings = readSettings(body, found);
  const { password, username = email, label = null, importHistory } = body;
  checks.requireSignIn(caller, { ...settings, username, password });
  const { provider = "other", signIn: method = "password" } = found ?? {};
  const connectedBy = `@${personOf(caller)}`;
  const row = add({ email, label, provider, method, connectedBy, username, ...settings, password }, importHistory);
  return { id: row.id, addressId: row.addressId, status: stateOf(row, mailServers).status };
}

/** The mailboxes, and their addresses. */
function connectedMailboxes({ clock, makeId, owned, mailServers }: Workspace) {
  const mailboxes = new Collection<MailboxRow>({
    kind: "connected_mailbox",
    missing: { code: "connected_mailbox_not_found" },
  });
  const get = (params: Readonly<Record<string, string>>): MailboxRow => mailboxes.get(params["id"] ?? "");

  function add(mailbox: NewMailbox, importHistory = false): MailboxRow {
    const made = mailboxes.add((sequence) => ({
      ...mailbox,
      id: `cmb_${makeId.hex(`mailbox ${sequence}`)}`,
      sequence,
      addressId: `adr_${makeId.hex(`mailbox address ${sequence}`)}`,
      createdAt: new Date(clock.now()).toISOString(),
      historyImportId: importHistory ? `imp_${makeId.hex(`history import ${sequence}`)}` : null,
      isPaused: false,
      lastSyncedAt: null,
    }));
    owned.connect(made.email);
    return made;
  }

  /** Those that are connected from the start. */
  function reset(): void {
    for (const { email } of mailboxes.rows) owned.disconnect(email);
    mailboxes.clear();
    mailServers.reset();
    for (const [{ provider, signIn, imap, smtp }, { email, username, password }] of mailServers.connected) {
      add({ email, label: null, provider, method: signIn, connectedBy: "@owner", username, imap, smtp, password });
    }
  }

  return { mailboxes, get, add, reset };
}

/** What keeps a mailbox from being connected, or signed in again. */
function signInChecks(
  { clock, options, owned, mailServers }: Workspace,
  mailboxes: Collection<MailboxRow>,
  signIns: SlidingLimit,
) {
  /** Throws 429, or what the servers refused. */
  function requireSignIn(caller: Caller, signIn: SignIn): void {
    signIns.take(personOf(caller), 1, clock.now());
    const outcome = mailServers.signIn(signIn);
    if (outcome === "accepted") return;
    const code = outcome === "send_refused" ? "connected_mailbox_send_sign_in_failed" : "mailbox_login_failed";
    throw new SandboxApiError({ code });
  }

  /** Throws what keeps the address from being connected, whatever its servers say. */
  function requireConnectable(email: string): void {
    const found = mailServers.find(email);
    if (options.domains.includes(domainOf(email)) || options.addresses.includes(email)) {
      throw refusal("connected_mailbox_domain_hosted");
    }
    if (found?.signIn === "vendor") throw refusal("mailbox_uses_vendor");
    if (mailboxes.rows.some((row) => row.email === email)) throw refusal("connected_mailbox_already_connected");
    if (found?.accounts?.some((account) => account.email === email && account.elsewhere) === true) {
      throw refusal("connected_mailbox_connected_elsewhere");
    }
    if (owned.addresses.length < MAX_ADDRESSES) return;
    throw new SandboxApiError({ code: "workspace_limit_reached" });
  }

  /** Throws unless both servers accept a new password of the mailbox. */
  function requirePassword(row: MailboxRow, password: string, caller: Caller): void {
    if (row.method === "vendor") {
      throw new SandboxApiError({ code: "connected_mailbox_no_password", param: "password" });
    }
    requireSignIn(caller, { ...signInOf(row), password });
  }

  return { requireSignIn, requireConnectable, requirePassword };
}

/** A mailbox of which nothing was found cannot be reached. */
function signInOf({ imap, smtp, username, password }: SignInRow): SignIn {
  const none: MailHost = { host: "", port: 0, security: "tls" };
  return { imap: imap ?? none, smtp: smtp ?? none, username, password };
}

/** A mailbox is what its servers say now: no sync is waited for. A sync only reads. */
function stateOf(mailbox: MailboxRow, mailServers: MailServers) {
  if (mailbox.isPaused) return { status: "paused", pauseReason: "by-person", lastError: null };
  switch (mailServers.signIn(signInOf(mailbox))) {
    case "refused":
      return { status: "needs-sign-in", pauseReason: "sign-in", lastError: "The provider refuses the password." };
    case "no_answer":
      return { status: "failing", pauseReason: "unreachable", lastError: "The provider's server does not answer." };
    case "accepted":
    case "send_refused":
      return { status: "active", pauseReason: null, lastError: null };
  }
}

function mailboxBody(mailbox: MailboxRow, mailServers: MailServers): object {
  const { isPaused: _, password: __, ...row } = withoutSequence(mailbox);
  return { ...row, ...stateOf(mailbox, mailServers) };
}

/** An API key acts for the owner. */
function personOf({ member }: Caller): string {
  return member ?? "owner";
}

/** The refusal of an address. */
function refusal(code: ApiErrorCode): SandboxApiError {
  return new SandboxApiError({ code, param: "email" });
}

function hourlyLimit(max: number, message: string): SlidingLimit {
  return new SlidingLimit({ max, windowMs: HOUR, code: "mailbox_checks_limited", message });
}
