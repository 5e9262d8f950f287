import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf } from "./paging.js";
import { createRows } from "./create-rows.js";
import { emailAddress, idParams, nullable, openEnum, someText, textOf, tombstoneOf, wholeNumberOf } from "./shapes.js";

/** See docs/service.md#connected-mailboxes. */
export const MAILBOX_LIMITS = { labelLength: 120, signInsPerHour: 10 } as const;

const SECURITIES = ["tls", "starttls"] as const;

const host = textOf(1, 253).optional();
const port = wholeNumberOf(1, 65_535).optional();
const security = z.enum(SECURITIES, { error: "Must be tls or starttls." }).optional();
const label = textOf(0, MAILBOX_LIMITS.labelLength).nullable().optional();

const mailServer = z.looseObject({ host: z.string(), port: z.number(), security: openEnum(SECURITIES) });
const status = openEnum(["active", "paused", "needs-sign-in", "failing"]);
const pauseReason = nullable(openEnum(["by-person", "sign-in", "unreachable"]));

/** A mailbox of an outside provider. */
const mailbox = z.looseObject({
  id: z.string(),
  /** The workspace's address that it appears as. */
  addressId: nullable(z.string()),
  email: z.string(),
  label: nullable(z.string()),
  provider: nullable(z.string()),
  method: nullable(z.string()),
  status,
  /** Null while it is active. */
  pauseReason,
  /** The provider's last message; null while healthy. */
  lastError: nullable(z.string()),
  lastSyncedAt: nullable(z.string()),
  createdAt: z.string().default(""),
  /** Who connected it; its shape is not documented. */
  connectedBy: z.unknown().optional(),
  username: nullable(z.string()),
  imap: nullable(mailServer),
  smtp: nullable(mailServer),
  historyImportId: nullable(z.string()),
});

const discovery = z.looseObject({
  object: z.string(),
  email: z.string(),
  provider: nullable(z.string()),
  /** `vendor`: only the vendor's sign-in, in the app, can connect it. */
  signIn: openEnum(["app-password", "password", "vendor"]),
  /** Null when nothing was found: pass `host`. */
  imap: nullable(mailServer),
  /** Null: found while connecting, or given as `smtpHost`. */
  smtp: nullable(mailServer),
});

const connection = z.looseObject({ id: z.string(), addressId: nullable(z.string()), status });
const change = z.looseObject({ id: z.string(), status, pauseReason, label: nullable(z.string()) });

const rows = createRows({
  all: "/connected-mailboxes",
  scopes: ["connections:read", "settings:write"],
  one: {
    path: "/connected-mailboxes/{id}",
    params: idParams(/^cmb_[0-9a-f]{24}$/, "Must be cmb_ and 24 hex characters."),
    missing: "connected_mailbox_not_found",
    example: { id: "cmb_65b8f0a2c4d6e8f001234567" },
  },
});
const assumed = { pathIsAssumed: true } as const;
const ofAddress = { ...assumed, issueCodes: { email: "mailbox_address_invalid" } } as const;
const email = "ada@mailbox.example.net";

const signInErrors = [
  "mailbox_login_failed",
  "connected_mailbox_send_sign_in_failed",
  "mailbox_checks_limited",
] as const;

/** Mailboxes that stay at another provider. See docs/service.md#connected-mailboxes. */
export const mailboxes = {
  /** Lists the connected mailboxes, newest first. */
  list: rows.read("/connected-mailboxes", listOf(mailbox), {
    doc: "Lists the connected mailboxes, newest first.",
    ...assumed,
  }),
  /** Reads one connected mailbox. */
  get: rows.get(mailbox, { doc: "Reads one connected mailbox.", ...assumed }),
  /** Finds the servers of an address; stores nothing, and signs in nowhere. */
  discover: rows.act("/connected-mailboxes/discover", discovery, {
    doc: "Finds the servers of an address; stores nothing, and signs in nowhere.",
    ...ofAddress,
    body: z.strictObject({ email: emailAddress() }),
    errors: ["mailbox_address_invalid", "mailbox_checks_limited"],
    example: { body: { email } },
  }),
  /** Signs in to both servers of a mailbox, and adds its address to the workspace. */
  connect: rows.create(connection, {
    doc: "Signs in to both servers of a mailbox, and adds its address to the workspace.",
    ...ofAddress,
    body: z.strictObject({
      email: emailAddress(),
      /** The mailbox's own password, or one that its provider makes for apps. The service keeps it sealed. */
      password: someText(),
      /** Its IMAP server. Without `host` and `smtpHost`, the servers are found from the address. */
      host,
      /** 993 with TLS, or 143 with STARTTLS. */
      port,
      security,
      /** When it is not the address. */
      username: someText().optional(),
      smtpHost: host,
      /** 465 with TLS, or 587 with STARTTLS. */
      smtpPort: port,
      smtpSecurity: security,
      label,
      /** True copies the mail that is there already; by default, new mail alone. */
      importHistory: z.boolean().optional(),
    }),
    errors: [
      ...signInErrors,
      "mailbox_address_invalid",
      "mailbox_settings_unknown",
      "connected_mailbox_send_server_unknown",
      "mailbox_uses_vendor",
      "connected_mailbox_domain_hosted",
      "connected_mailbox_already_connected",
      "connected_mailbox_connected_elsewhere",
      "workspace_limit_reached",
    ],
    example: { body: { email, password: "abcd efgh ijkl mnop" } },
  }),
  /** Pauses or resumes a mailbox, or gives it a new password or label. */
  update: rows.update(change, {
    doc: "Pauses or resumes a mailbox, or gives it a new password or label.",
    ...assumed,
    body: z.strictObject({
      /** True stops sync and sending, false resumes them. */
      paused: z.boolean().optional(),
      /** A new password, which both servers must accept. */
      password: someText().optional(),
      label,
    }),
    errors: [...signInErrors, "connected_mailbox_no_password"],
    example: { body: { paused: true } },
  }),
  /** Asks for a sync, and answers the mailbox as it was then. */
  sync: rows.act("/connected-mailboxes/{id}/sync", mailbox, {
    doc: "Asks for a sync, and answers the mailbox as it was then.",
    ...assumed,
  }),
  /** Disconnects a mailbox, removes its address, and forgets its password. */
  disconnect: rows.delete({
    doc: "Disconnects a mailbox, removes its address, and forgets its password.",
    result: tombstoneOf({ id: z.string(), addressId: nullable(z.string()), email: z.string() }),
  }),
} as const satisfies Resource;
