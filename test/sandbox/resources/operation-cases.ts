import type { Client } from "pigeonhole/client";
import type { Sandbox, SandboxOptions } from "pigeonhole/sandbox";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";
import type { ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import type { Contract } from "#pigeonhole/contract/contract.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import { type Answered, KEYS, SUPPORT, type World, type WorldInit, openWorld, requestOf } from "./support.js";
import type { MailServerInput } from "#pigeonhole/sandbox/resources/mail-servers.js";

// What the tests of every operation have to know of one: what its example needs, requests for its errors, its texts
// without a limit, and what callers are answered who reach less than the owner.

type Producer = (world: World) => Promise<Answered>;

/** The requests for errors that are the same for every row; undefined where a row needs one of its own. */
export function usualProducer(operation: Operation, code: ApiErrorCode): Producer | undefined {
  const { body, query, pageParam = "cursor", params, example } = operation;
  const send =
    (...[over, key]: [Parameters<typeof requestOf>[1]?, (keyof typeof KEYS)?]): Producer =>
    (world) => {
      const { line, init } = requestOf(operation, over);
      return world.send(line, { ...init, key: key ?? "full" });
    };
  const usual: Partial<Record<ApiErrorCode, Producer>> = {
    insufficient_scope: send({}, "none"),
    invalid_cursor: send({ query: { [pageParam]: "foreign" } }),
    unknown_parameter:
      body === undefined ? send({ query: { surprise: 1 } }) : send({ body: { ...example.body, surprise: 1 } }),
  };
  if (usual[code] !== undefined) return usual[code];
  if (code === "invalid_parameter" && body !== undefined) return send({ body: 5 });
  if (code === "invalid_parameter" && query?.shape["limit"] !== undefined) return send({ query: { limit: 0 } });
  if (code === "owner_only") return send({}, "member");
  if (code === "capability_unsupported" && operation.closedToSome === "callers") return send({}, "narrow");
  if (code === "capability_unsupported" && operation.closedToSome === "members") {
    return send({}, "narrowMember");
  }
  // A workspace without rows has none of the ids of the examples.
  return code.endsWith("_not_found") && params !== undefined ? send() : undefined;
}

const copies = (count: number, body: object): object[] => Array.from({ length: count }, () => body);
/** Sends a request for each body, and answers the last. */
const sendAll = async ({ send }: World, line: string, bodies: readonly object[], init: WorldInit = {}) => {
  const [first, ...rest] = bodies;
  let last = await send(line, { ...init, body: first });
  for (const body of rest) last = await send(line, { ...init, body });
  return last;
};
/** Makes something, and sends a request whose line has its id. */
const sendOf = async (
  { send }: World,
  [line, body]: readonly [line: string, body: unknown],
  lineOf: (id: string) => string,
  init: WorldInit = {},
): Promise<Answered> => send(lineOf(String((await send(line, { body })).body["id"])), init);

/** Creates labels, and answers the last creation. */
const labels = (world: World, ...names: string[]): Promise<Answered> =>
  sendAll(
    world,
    "POST /labels",
    names.map((name) => ({ name })),
  );
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

const SIGNATURE = { address: SUPPORT, name: "Work", html: "<p>Ada</p>" };
const OTHER = "billing@acme.example.com";
/** Creates signatures, and answers the last creation. */
const signatures = (world: World, names: readonly string[], address = SUPPORT): Promise<Answered> =>
  sendAll(
    world,
    "POST /signatures",
    names.map((name) => ({ ...SIGNATURE, address, name })),
  );
/** Copies the only signature of the support address to another one. */
const copySignature = (world: World, key: "full" | "narrow"): Promise<Answered> =>
  sendOf(world, ["POST /signatures", SIGNATURE], (id) => `POST /signatures/${id}/copy`, {
    key,
    body: { addresses: [OTHER] },
  });

const FORM = { name: "News", publish: true };
/** Creates as many forms, and answers the last creation. */
const forms = (world: World, count: number): Promise<Answered> => sendAll(world, "POST /forms", copies(count, FORM));
/** Sends a call of a new form; `lineOf` has its id. */
const ofForm = (world: World, lineOf: (id: string) => string, body?: unknown, key?: keyof typeof KEYS) =>
  sendOf(world, ["POST /forms", FORM], lineOf, { body, key: key ?? "full" });
const FORM_ERRORS: readonly (readonly [code: string, body: object, key?: keyof typeof KEYS])[] = [
  ["invalid_form", { settings: { doubleOptIn: true } }],
  ["form_sender_refused", { settings: { senderAddress: "us@elsewhere.example" } }],
  ["audience_not_found", { settings: { audienceIds: ["aud_none"] } }],
  ["capability_unsupported", { settings: { senderAddress: OTHER } }, "narrow"],
];
const formErrors = FORM_ERRORS.flatMap(([code, body, key = "full"]): [string, Producer][] => [
  [`forms.create ${code}`, ({ send }) => send("POST /forms", { key, body: { name: "News", ...body } })],
  [`forms.update ${code}`, (world) => ofForm(world, (id) => `PATCH /forms/${id}`, body, key)],
]);
const aiErrors = (["design", "redesign"] as const).flatMap(
  (name): [string, (world: World, text: string) => Promise<Answered>][] => [
    [
      name,
      (world, text) =>
        name === "design"
          ? world.send("POST /forms/design", { body: { brief: text } })
          : ofForm(world, (id) => `POST /forms/${id}/redesign`, { instructions: text }),
    ],
  ],
);

/** Sends a call of a new key; `line` has its id. */
const ofKey = async (
  world: World,
  line: (id: string) => string,
  { body, key = "full", revoked = false }: { body?: unknown; key?: keyof typeof KEYS; revoked?: boolean } = {},
): Promise<Answered> => {
  const id = String((await world.send("POST /keys", { body: { name: "Orders" } })).body["id"]);
  if (revoked) await world.send(`POST /keys/${id}/revoke`, { body: {} });
  return world.send(line(id), { key, ...(body === undefined ? {} : { body }) });
};

const ROLE = { name: "Support", permissions: ["emails:read"] };
/** Changes a new role. */
const changeRole = (world: World, body: object): Promise<Answered> =>
  sendOf(world, ["POST /roles", ROLE], (id) => `PATCH /roles/${id}`, { body });
/** The id of a role that every workspace begins with. */
const seededRole = async ({ send }: World, builtin: string): Promise<string> => {
  const { data } = (await send("GET /roles")).body as unknown as { data: { id: string; builtin: string }[] };
  return data.find((one) => one.builtin === builtin)?.id ?? "";
};
const toolErrors = ["dmarc", "bimi", "deliverability"].flatMap((name): [string, Producer][] => [
  [`tools.${name} invalid_parameter`, ({ send }) => send(`GET /tools/${name}?domain=localhost`)],
  [
    `tools.${name} unreachable`,
    ({ sandbox, send }) => {
      sandbox.faults.api.add({ calls: "tools.*", fault: { kind: "error", status: 503, code: "unreachable" } });
      return send(`GET /tools/${name}?domain=down.example`);
    },
  ],
]);

const MAIL = { domain: "shop.example", password: "p" };
const LOGIN = { email: "ada@shop.example", password: "p" };
const MAIL_SERVERS: readonly MailServerInput[] = [
  MAIL,
  { domain: "vendor.example", signIn: "vendor", connected: ["ada@vendor.example"] },
  { domain: "mute.example", sends: false },
  { domain: "dumb.example", smtp: "none" },
  { domain: "taken.example", elsewhere: true },
];
/** Connects a mailbox in a workspace that knows a few servers. */
const mailbox = (body: object = {}, options: SandboxOptions = {}, times = 1): Promise<Answered> => {
  const world = openWorld({ mailServers: MAIL_SERVERS, ...options });
  return sendAll(world, "POST /connected-mailboxes", copies(times, { ...LOGIN, ...body }));
};
/** Changes the connected mailbox of a vendor, or one whose servers have changed since. */
const changeMailbox = async (body: object, server?: MailServerInput, times = 1): Promise<Answered> => {
  const world = openWorld({ mailServers: MAIL_SERVERS });
  const made = await world.send("POST /connected-mailboxes", { body: LOGIN });
  const [vendors] = world.sandbox.rows("mailboxes") as { id: string }[];
  if (server !== undefined) world.sandbox.setMailServer(server);
  const id = server === undefined ? vendors?.id : String(made.body["id"]);
  return sendAll(world, `PATCH /connected-mailboxes/${id}`, copies(times, body));
};
const mailboxErrors: Record<string, Producer> = {
  "mailboxes.connect mailbox_address_invalid": () => mailbox({ email: "nobody" }),
  "mailboxes.discover mailbox_address_invalid": ({ send }) =>
    send("POST /connected-mailboxes/discover", { body: { email: "nobody" } }),
  "mailboxes.discover mailbox_checks_limited": (world) =>
    sendAll(world, "POST /connected-mailboxes/discover", copies(61, { email: LOGIN.email })),
  "mailboxes.connect mailbox_login_failed": () => mailbox({ password: "wrong" }),
  "mailboxes.connect connected_mailbox_send_sign_in_failed": () => mailbox({ email: "ada@mute.example" }),
  "mailboxes.connect mailbox_checks_limited": () => mailbox({ password: "wrong" }, {}, 11),
  "mailboxes.connect mailbox_settings_unknown": () => mailbox({ email: "ada@elsewhere.example" }),
  "mailboxes.connect connected_mailbox_send_server_unknown": () => mailbox({ email: "ada@dumb.example" }),
  "mailboxes.connect mailbox_uses_vendor": () => mailbox({ email: "eve@vendor.example" }),
  "mailboxes.connect connected_mailbox_domain_hosted": () => mailbox({ email: "ada@acme.example.com" }),
  "mailboxes.connect connected_mailbox_already_connected": () => mailbox({}, {}, 2),
  "mailboxes.connect connected_mailbox_connected_elsewhere": () => mailbox({ email: "ada@taken.example" }),
  "mailboxes.connect workspace_limit_reached": () =>
    mailbox({}, { addresses: Array.from({ length: 100 }, (_, index) => `a${index}@acme.example.com`) }),
  "mailboxes.update mailbox_login_failed": () => changeMailbox({ password: "wrong" }, MAIL),
  "mailboxes.update connected_mailbox_send_sign_in_failed": () =>
    changeMailbox({ password: "p" }, { ...MAIL, sends: false }),
  "mailboxes.update mailbox_checks_limited": () => changeMailbox({ password: "p" }, MAIL, 10),
  "mailboxes.update connected_mailbox_no_password": () => changeMailbox({ password: "p" }),
};

/** An endpoint of the workspace. */
const endpoint = ({ sandbox }: World, index = 0): string =>
  sandbox.endpoints.create({ url: `http://127.0.0.1:9/${index}` }).id;
const EVENT = { name: "order.shipped", email: "ada@a.example" };

/** A request for each error that needs one of its own, by call and code. */
export const PRODUCERS: Record<string, Producer> = {
  "contacts.create contact_exists": (world) =>
    sendAll(world, "POST /contacts", [{ email: "ada@a.example" }, { email: " Ada@A.example" }]),
  "contacts.create audience_not_found": ({ send }) =>
    send("POST /contacts", { body: { email: "ada@a.example", audienceIds: ["aud_none"] } }),
  "contacts.delete invalid_contact": ({ send }) => send("DELETE /contacts/nobody"),
  "contacts.setAudiences audience_not_found": async ({ send }) => {
    await send("POST /contacts", { body: { email: "ada@a.example" } });
    return send("PUT /contacts/ada@a.example/audiences", { body: { audienceIds: ["aud_none"] } });
  },
  "files.createLink file_unshareable": (world) =>
    sendOf(world, ["POST /files?filename=setup.exe", "MZ"], (id) => `POST /files/${id}/links`, { body: {} }),
  "files.links invalid_cursor": (world) =>
    sendOf(world, ["POST /files?filename=a.txt", "x"], (id) => `GET /files/${id}/links?cursor=foreign`),
  "files.upload invalid_parameter": ({ send }) => send("POST /files?filename=%20", { body: "x" }),
  "files.delete file_in_use": async ({ send }) => {
    const { body } = await send("POST /files?filename=a.txt", { body: "x" });
    await send(`POST /files/${String(body["id"])}/links`, { body: {} });
    return send(`DELETE /files/${String(body["id"])}`);
  },
  ...Object.fromEntries(formErrors),
  ...Object.fromEntries(toolErrors),
  ...mailboxErrors,
  ...Object.fromEntries(
    aiErrors.flatMap(([name, ask]): [string, Producer][] => [
      [`forms.${name} invalid_form`, (world) => ask(world, "A form without an email field.")],
      [`forms.${name} ai_not_configured`, () => ask(openWorld({ limits: { aiActions: "off" } }), "News.")],
      [`forms.${name} ai_quota_exceeded`, () => ask(openWorld({ limits: { aiActions: 0 } }), "News.")],
    ]),
  ),
  "forms.create workspace_limit_reached": (world) => forms(world, 101),
  "forms.design workspace_limit_reached": async (world) => {
    await forms(world, 100);
    return world.send("POST /forms/design", { body: { brief: "News." } });
  },
  "forms.copy workspace_limit_reached": async (world) => {
    await forms(world, 99);
    return ofForm(world, (id) => `POST /forms/${id}/copy`, {});
  },
  "forms.update version_conflict": (world) => ofForm(world, (id) => `PATCH /forms/${id}`, { expectedUpdatedAt: "old" }),
  "forms.redesign version_conflict": (world) =>
    ofForm(world, (id) => `POST /forms/${id}/redesign`, { instructions: "x", expectedUpdatedAt: "old" }),
  "forms.subscribe invalid_form_submission": (world) => ofForm(world, (id) => `POST /subscribe/${id}`, { email: "no" }),
  "forms.starter form_starter_not_found": ({ send }) => send("GET /forms/starters/none"),
  "forms.subscribe form_closed": async (world) => {
    const { body } = await ofForm(world, (id) => `POST /forms/${id}/pause`);
    return world.send(`POST /subscribe/${String(body["id"])}`, { key: null, body: { email: "ada@x.example" } });
  },
  "forms.subscribe form_rate_limited": (world) => sendAll(world, "POST /subscribe/none", copies(41, {}), { key: null }),
  "keys.create beyond_caller_authority": ({ send }) => send("POST /keys", { key: "keeper", body: { name: "Wide" } }),
  "keys.create role_not_found": ({ send }) => send("POST /keys", { body: { name: "Orders", roleId: "role_none" } }),
  "keys.create workspace_limit_reached": (world) => {
    for (let count = 0; count < 100; count += 1) world.sandbox.callers.key();
    return world.send("POST /keys", { body: { name: "Orders" } });
  },
  "keys.update beyond_caller_authority": (world) =>
    ofKey(world, (id) => `PATCH /keys/${id}`, { body: {}, key: "keeper" }),
  "keys.update revoked": (world) => ofKey(world, (id) => `PATCH /keys/${id}`, { body: {}, revoked: true }),
  "keys.rotate beyond_caller_authority": (world) => ofKey(world, (id) => `POST /keys/${id}/rotate`, { key: "keeper" }),
  "keys.rotate revoked": (world) => ofKey(world, (id) => `POST /keys/${id}/rotate`, { revoked: true }),
  "keys.rotateSelf resource_not_found": ({ send, sandbox }) =>
    send("POST /keys/self/rotate", { token: sandbox.callers.owner() }),
  "keys.revoke beyond_caller_authority": (world) =>
    ofKey(world, (id) => `POST /keys/${id}/revoke`, { body: {}, key: "keeper" }),
  "keys.revoke revoked": (world) => ofKey(world, (id) => `POST /keys/${id}/revoke`, { body: {}, revoked: true }),
  "keys.delete beyond_caller_authority": (world) => ofKey(world, (id) => `DELETE /keys/${id}`, { key: "keeper" }),
  "keys.delete not_revoked": (world) => ofKey(world, (id) => `DELETE /keys/${id}`),
  "labels.create label_name_taken": (world) => labels(world, "Big orders", "BIG ORDERS"),
  "labels.create label_limit_reached": (world) => labels(world, ...upTo(51)),
  "labels.update label_name_taken": async (world) => {
    await labels(world, "Big orders", "Small orders");
    return world.send("PATCH /labels/USER_BIG_ORDERS", { body: { name: "small ORDERS" } });
  },
  "roles.create insufficient_authority": ({ send }) =>
    send("POST /roles", { body: { name: "Boss", permissions: ["workspace:manage"] } }),
  "roles.create role_name_taken": ({ send }) => send("POST /roles", { body: { name: "VIEWER", permissions: [] } }),
  "roles.create role_limit_reached": (world) =>
    sendAll(
      world,
      "POST /roles",
      upTo(25).map((name) => ({ ...ROLE, name })),
    ),
  "roles.update insufficient_authority": (world) => changeRole(world, { permissions: ["api-keys:read"] }),
  "roles.update role_name_taken": (world) => changeRole(world, { name: "billing" }),
  "roles.update role_immutable": async (world) =>
    world.send(`PATCH /roles/${await seededRole(world, "owner")}`, { body: {} }),
  "roles.delete invalid_parameter": ({ send }) => send("DELETE /roles/role_0123456789abcdef01234567?reassignTo="),
  "roles.delete role_undeletable": async (world) => world.send(`DELETE /roles/${await seededRole(world, "owner")}`),
  "roles.delete role_in_use": async (world) => {
    world.sandbox.callers.member({ role: "Viewer" });
    return world.send(`DELETE /roles/${await seededRole(world, "viewer")}`);
  },
  "roles.delete role_immutable": async (world) => {
    const [viewer, owner] = [await seededRole(world, "viewer"), await seededRole(world, "owner")];
    return world.send(`DELETE /roles/${viewer}?reassignTo=${owner}`);
  },
  "sending.resume step_up_required": ({ sandbox, send }) =>
    send("POST /sending/streams/broadcast/resume", { token: sandbox.callers.owner() }),
  "sending.resume resource_not_found": ({ send }) => send("POST /sending/streams/transactional/resume"),
  "sending.resume stream_not_paused": ({ send }) => send("POST /sending/streams/broadcast/resume"),
  "signatures.create signature_name_taken": (world) => signatures(world, ["Work", "WORK"]),
  "signatures.create signature_limit_reached": (world) => signatures(world, upTo(51)),
  "signatures.create capability_unsupported": ({ send }) =>
    send("POST /signatures", { key: "narrow", body: { ...SIGNATURE, address: OTHER } }),
  "signatures.update signature_name_taken": async (world) => {
    const { body } = await signatures(world, ["Work", "Home"]);
    return world.send(`PATCH /signatures/${String(body["id"])}`, { body: { name: "work" } });
  },
  "signatures.copy signature_limit_reached": async (world) => {
    await signatures(world, upTo(50), OTHER);
    return copySignature(world, "full");
  },
  "signatures.copy capability_unsupported": (world) => copySignature(world, "narrow"),
  "contactEvents.send capability_unsupported": ({ send }) => send("POST /events", { key: "narrowMember", body: EVENT }),
  "contactEvents.send contact_not_found": ({ send }) => send("POST /events", { body: EVENT }),
  "contactEvents.send invalid_idempotency_key": ({ send }) =>
    send("POST /events", { headers: { "idempotency-key": "a b" }, body: EVENT }),
  "contactEvents.send invalid_event": ({ send }) => send("POST /events", { body: { ...EVENT, name: "" } }),
  "contactEvents.send idempotency_key_reuse": async () => {
    const world = openWorld({ contacts: [{ email: EVENT.email }] });
    const headers = { "idempotency-key": "k" };
    return sendAll(world, "POST /events", [EVENT, { ...EVENT, name: "other" }], { headers });
  },
  "contactEvents.send event_rate_limited": () => {
    const world = openWorld({ contacts: [{ email: EVENT.email }], limits: { eventsPerMinute: 1 } });
    return sendAll(world, "POST /events", [EVENT, EVENT]);
  },
  "contactEvents.list invalid_cursor": () =>
    openWorld({ contacts: [{ email: EVENT.email }] }).send(`GET /contacts/${EVENT.email}/events?cursor=foreign`),
  "webhooks.deliveries invalid_cursor": (world) =>
    world.send(`GET /webhooks/${endpoint(world)}/deliveries?cursor=foreign`),
  "contactEvents.sendBatch invalid_idempotency_key": ({ send }) =>
    send("POST /events/batch", { headers: { "idempotency-key": "a b" }, body: { events: [EVENT] } }),
  "contactEvents.sendBatch event_rate_limited": () =>
    openWorld({ limits: { eventsPerMinute: 1 } }).send("POST /events/batch", { body: { events: [EVENT, EVENT] } }),
  "webhooks.create invalid_webhook_url": ({ send }) => send("POST /webhooks", { body: { url: "app" } }),
  "webhooks.create capability_unsupported": ({ send }) =>
    send("POST /webhooks", { key: "narrow", body: { url: "http://127.0.0.1:9/" } }),
  "webhooks.create workspace_limit_reached": async (world) => {
    for (let index = 0; index < 10; index += 1) endpoint(world, index);
    return world.send("POST /webhooks", { body: { url: "http://127.0.0.1:9/" } });
  },
  "webhooks.update invalid_webhook_url": (world) =>
    world.send(`PATCH /webhooks/${endpoint(world)}`, { body: { url: "app" } }),
  "webhooks.update capability_unsupported": (world) =>
    world.send(`PATCH /webhooks/${endpoint(world)}`, { key: "narrow", body: {} }),
  "webhooks.delete capability_unsupported": (world) =>
    world.send(`DELETE /webhooks/${endpoint(world)}`, { key: "narrow" }),
  "webhooks.rotateSecret capability_unsupported": (world) =>
    world.send(`POST /webhooks/${endpoint(world)}/rotate-secret`, { key: "narrow" }),
  "webhooks.replay invalid_parameter": async () => {
    const world = openWorld({ receive: () => new Response(null) });
    const { sandbox, send } = world;
    const id = endpoint(world);
    await sandbox.endpoints.test(id);
    return send(`POST /webhooks/${id}/deliveries/${sandbox.deliveries()[0]?.id}/replay`);
  },
  "files.list invalid_parameter": ({ send }) => send("GET /files?since=yesterday"),
  "keys.list inactive_api_key": ({ sandbox, send }) => {
    const token = sandbox.callers.key();
    sandbox.apiKeys.setStatus(token, "inactive");
    return send("GET /keys", { token });
  },
};

/** A contact that the examples name. */
const ADA = "ada@customer.example.com";
const CHAT = { title: "Orders", id: "5b8f0a2c-4d6e-4f00-9123-456789abcdef" };

/** The workspace that the examples are of. */
export const exampleWorkspace = () =>
  ({
    // Between the times of the examples and the age that events may have.
    clock: createManualClock(Date.UTC(2026, 1, 1)),
    contacts: [{ email: ADA }],
    audiences: [{ id: "aud_65b8f0a2c4d6e8f001234567", name: "Customers" }],
    chats: [CHAT],
    apiKeys: [{ token: KEYS.full, scopes: SCOPES }],
    dedicatedIps: ["192.0.2.10"],
    limits: { aiActions: 10 },
  }) satisfies SandboxOptions;

/** Ids by the names of path parameters. */
export type Ids = Record<string, string>;

/** Makes what the examples of a resource speak of. */
export const MAKERS: { readonly [R in keyof Contract]: (client: Client) => Promise<Ids> } = {
  chats: () => Promise.resolve({ id: CHAT.id }),
  contactEvents: () => Promise.resolve({ email: ADA }),
  contacts: () => Promise.resolve({ email: ADA }),
  drafts: async ({ drafts }) => ({ id: (await drafts.create({ subject: "Offer" })).id }),
  files: async ({ files }) => {
    const { id } = await files.upload(Buffer.from("bytes"), { filename: "a.txt" });
    return { id };
  },
  forms: async ({ forms }) => {
    const { id } = await forms.create({ name: "News", publish: true });
    return { id, formId: id };
  },
  keys: async ({ keys }) => ({ id: (await keys.create({ name: "Old" })).id }),
  labels: async ({ labels }) => ({ id: (await labels.create({ name: "Sale" })).id }),
  mailboxes: async ({ mailboxes }) => ({
    id: (await mailboxes.connect({ email: "grace@mailbox.example.net", password: "p" })).id,
  }),
  roles: async ({ roles }) => ({ id: (await roles.create({ name: "Old", permissions: [] })).id }),
  sending: () => Promise.resolve({}),
  signatures: async ({ signatures }) => {
    const html = "<p>Ada</p>";
    return { id: (await signatures.create({ address: "support@acme.example.com", name: "Old", html })).id };
  },
  tools: () => Promise.resolve({}),
  webhooks: async ({ webhooks }) => {
    const { id } = await webhooks.create({ url: "http://127.0.0.1:9/" });
    await webhooks.test(id);
    const [failed] = (await webhooks.deliveries(id)).items;
    return { id, deliveryId: failed?.id ?? "" };
  },
};

/** What a call of its own needs before. */
export const BEFORE: Record<string, (client: Client, ids: Ids, sandbox: Sandbox) => Promise<Ids>> = {
  "files.revokeLink": async ({ files }, { id = "" }) => ({ linkId: (await files.createLink(id, {})).id }),
  "contacts.create": async ({ contacts }) => {
    await contacts.delete(ADA);
    return {};
  },
  "keys.delete": async ({ keys }, { id = "" }) => {
    await keys.revoke(id, {});
    return {};
  },
  "roles.delete": async ({ roles }) => ({ reassignTo: (await roles.list()).items[1]?.id ?? "" }),
  "sending.resume": (_, ids, sandbox) => {
    const recipients = Array.from({ length: 100 }, (_, index) => `a${index}@x.example`);
    sandbox.emit("email.bounced", { stream: "broadcast", recipient: recipients.join(",") });
    return Promise.resolve(ids);
  },
  "forms.starter": async ({ forms }) => ({ slug: (await forms.starters())[0]?.slug ?? "" }),
};

/** Texts for which the service documents no limit, or which it ignores. */
export const UNLIMITED: readonly string[] = [
  "contacts.create name",
  "contacts.create notes",
  "contacts.update name",
  "contacts.update notes",
  "drafts.create from",
  "drafts.create threadId",
  "drafts.update from",
  "drafts.update threadId",
  "labels.create color.textColor",
  "labels.update color.textColor",
  "mailboxes.connect password",
  "mailboxes.connect username",
  "mailboxes.update password",
];

/** What a caller who reaches less is answered otherwise than the owner; first match. */
export type CallerRules = readonly (readonly [calls: RegExp, answer: string])[];

/** What a key or token that reaches one address is answered, where the owner made what the example speaks of. */
export const NARROWED: CallerRules = [
  [/^chats\./, "422 capability_unsupported"],
  // What the owner made reaches every address.
  [/^keys\.(?:get|update|rotate|revoke|delete)$/, "404 resource_not_found"],
  [/^keys\.create$/, "403 beyond_caller_authority"],
  [/^webhooks\.(?:update|delete|rotateSecret)$/, "422 capability_unsupported"],
  [/^files\.(?:get|content|links|createLink|revokeLink|revokeLinks|delete)$/, "404 resource_not_found"],
  [/^signatures\.copy$/, "422 capability_unsupported"],
];

/** What an app of a member is answered, who added none of the contacts and forms. */
export const MEMBERS: CallerRules = [
  [/^contacts\.(?:get|update|setAudiences)$/, "404 contact_not_found"],
  [/^contactEvents\.(?:send|list)$/, "404 contact_not_found"],
  [/^forms\.(?:get|update|publish|pause|copy|delete|redesign)$/, "404 form_not_found"],
];
