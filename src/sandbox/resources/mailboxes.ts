import { HOUR } from "../../base/duration.js";
import type { ApiErrorCode } from "../../contract/api-error-codes.js";
import type { Contract } from "../../contract/contract.js";
import type { BodyInput } from "../../contract/operation.js";
import { MAILBOX_LIMITS } from "../../contract/mailboxes.js";
import { type ApiHandlers, type Caller, SandboxApiError } from "../api/api-handlers.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import { domainOf } from "../access/allowlists.js";
import { foldAddress } from "../../contract/contact-address.js";
import { Collection, type CollectionRow, withoutSequence } from "../api/collection.js";
import type { MailHost, SignIn, SignInOutcome } from "./mail-servers.js";
import { readSettings } from "./mailbox-settings.js";
import {
  type SyncOutcome,
  type SyncState,
  askForSync,
  catchUp,
  noteMail,
  resumed,
  startSync,
  switchSync,
} from "./mailbox-sync.js";
import type { SandboxResource, Workspace } from "./resource.js";

interface MailboxRow extends CollectionRow {
  addressId: string;
  email: string;
  label: string | null;
  provider: string;
  method: string;
  createdAt: string;
  connectedBy: string;
  username: string;
  imap: MailHost | null;
  smtp: MailHost | null;
  historyImportId: string | null;
  /** Kept sealed; undefined for a vendor's sign-in. */
  password: string | undefined;
  sync: SyncState;
}

type NewMailbox = Omit<MailboxRow, "id" | "sequence" | "addressId" | "createdAt" | "historyImportId" | "sync">;

/** Connected mailboxes. See docs/service.md#connected-mailboxes. */
export function createMailboxes(workspace: Workspace): SandboxResource<"mailboxes"> {
  const { owned, mailServers } = workspace;
  const { mailboxes, nowMs, all, get, add, reset } = connectedMailboxes(workspace);
  const limits = {
    signIns: hourlyLimit(MAILBOX_LIMITS.signInsPerHour, "Too many sign-ins to mailboxes in an hour."),
    lookUps: hourlyLimit(workspace.options.mailLookUpsPerHour, "Too many look-ups of mail servers in an hour."),
  };
  const checks = signInChecks(workspace, mailboxes, limits.signIns);

  const handlers: ApiHandlers["mailboxes"] = {
    list: () => ({ body: all().toReversed().map(bodyOf) }),
    get: ({ params }) => ({ body: bodyOf(get(params)) }),
    discover({ body, caller }) {
      limits.lookUps.take(personOf(caller), 1, nowMs());
      const email = foldAddress(body.email);
      const { provider = null, signIn = "password", imap = null, smtp = null } = mailServers.find(email) ?? {};
      return { body: { object: "mailbox_discovery", email, provider, signIn, imap, smtp } };
    },
    connect: ({ body, caller }) => ({ body: connectMailbox({ checks, add, mailServers }, body, caller) }),
    update({ params, body, caller }) {
      const row = get(params);
      const { paused, password, label = row.label } = body;
      const sync = switchSync(checks.signInAgain(row, password, caller), paused, nowMs());
      mailboxes.change(row.id, { sync, label, password });
      return { body: { id: row.id, status: sync.status, pauseReason: sync.pauseReason, label } };
    },
    sync({ params }) {
      const row = get(params);
      mailboxes.change(row.id, { sync: askForSync(row.sync, nowMs()) });
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
    rows: () => all().map(bodyOf),
    reset() {
      limits.signIns.reset();
      limits.lookUps.reset();
      reset();
    },
    onEvent({ type, addresses }) {
      if (type !== "email.received") return;
      const reached = addresses.map(foldAddress);
      for (const { id, email, sync } of all()) {
        if (reached.includes(email)) mailboxes.change(id, { sync: noteMail(sync, nowMs()) });
      }
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
  const { id, addressId, sync } = add(
    { email, label, provider, method, connectedBy, username, ...settings, password },
    importHistory,
  );
  return { id, addressId, status: sync.status };
}

/** The mailboxes, with their syncs. */
function connectedMailboxes({ clock, makeId, owned, mailServers }: Workspace) {
  const mailboxes = new Collection<MailboxRow>({
    kind: "connected_mailbox",
    missing: { code: "connected_mailbox_not_found" },
  });
  const nowMs = (): number => clock.now();

  /** Makes the syncs that were due until now, by the table of servers as it is. */
  function catchUpAll(): void {
    for (const row of mailboxes.rows) {
      mailboxes.change(row.id, { sync: catchUp(row.sync, nowMs(), syncOutcome(mailServers.signIn(signInOf(row)))) });
    }
  }
  mailServers.beforeChange(catchUpAll);
  const all = (): readonly MailboxRow[] => {
    catchUpAll();
    return mailboxes.rows;
  };
  const get = (params: Readonly<Record<string, string>>): MailboxRow => {
    catchUpAll();
    return mailboxes.get(params["id"] ?? "");
  };

  function add(mailbox: NewMailbox, importHistory = false): MailboxRow {
    const made = mailboxes.add((sequence) => ({
      ...mailbox,
      id: `cmb_${makeId.hex(`mailbox ${sequence}`)}`,
      sequence,
      addressId: `adr_${makeId.hex(`mailbox address ${sequence}`)}`,
      createdAt: new Date(nowMs()).toISOString(),
      historyImportId: importHistory ? `imp_${makeId.hex(`history import ${sequence}`)}` : null,
      sync: startSync(nowMs()),
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

  return { mailboxes, nowMs, all, get, add, reset };
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
    if (owned.addresses.length < options.maxAddresses) return;
    throw new SandboxApiError({ code: "workspace_limit_reached" });
  }

  /** The syncs of a mailbox with a new password; throws unless both servers accept it. */
  function signInAgain(row: MailboxRow, password: string | undefined, caller: Caller): SyncState {
    if (password === undefined) return row.sync;
    if (row.method === "vendor") {
      throw new SandboxApiError({ code: "connected_mailbox_no_password", param: "password" });
    }
    requireSignIn(caller, { ...signInOf(row), password });
    return row.sync.status === "paused" ? row.sync : resumed(row.sync, clock.now());
  }

  return { requireSignIn, requireConnectable, signInAgain };
}

/** A mailbox of which nothing was found cannot be reached. */
function signInOf({ imap, smtp, username, password }: MailboxRow): SignIn {
  const none: MailHost = { host: "", port: 0, security: "tls" };
  return { imap: imap ?? none, smtp: smtp ?? none, username, password };
}

/** A sync only reads. */
function syncOutcome(outcome: SignInOutcome): SyncOutcome {
  return outcome === "send_refused" ? "accepted" : outcome;
}

function bodyOf(mailbox: MailboxRow): object {
  const { sync, password: _, ...row } = withoutSequence(mailbox);
  const { status, pauseReason, lastError, lastSyncedMs } = sync;
  const lastSyncedAt = lastSyncedMs === null ? null : new Date(lastSyncedMs).toISOString();
  return { ...row, status, pauseReason, lastError, lastSyncedAt };
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
