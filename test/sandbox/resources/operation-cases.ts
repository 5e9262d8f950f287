import type { Client } from "pigeonhole/client";
import type { Sandbox, SandboxOptions } from "pigeonhole/sandbox";
import { createManualClock } from "#pigeonhole/base/manual-clock.js";
import type { ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import type { Contract } from "#pigeonhole/contract/contract.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import { type Answered, KEYS, SUPPORT, type World, openWorld, requestOf } from "./support.js";
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

/** A request: method and path, body, and the key that it is sent with, by default the one with everything. */
type Step = readonly [line: string, body?: unknown, key?: keyof typeof KEYS | null | undefined];

/** Sends requests in turn, and answers the last. `{id}` stands for the id of the first thing that they made. */
const inTurn =
  (...steps: readonly Step[]): Producer =>
  async ({ send }) => {
    let id = "";
    let last: Answered | undefined;
    for (const [line, body, key = "full"] of steps) {
      last = await send(line.replace("{id}", id), { body, key });
      id ||= (last.body["id"] as string | undefined) ?? "";
    }
    return last as Answered;
  };
/** The same in a workspace of its own. */
const within =
  (options: SandboxOptions, ...steps: readonly Step[]): Producer =>
  () =>
    inTurn(...steps)(openWorld(options));
const copies = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);
const named = (line: string, names: readonly string[], body: object = {}): Step[] =>
  names.map((name) => [line, { ...body, name }]);
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

const OTHER = "billing@acme.example.com";
const SIGNATURE = { address: SUPPORT, name: "Work", html: "<p>Ada</p>" };
const COPY = "POST /signatures/{id}/copy";

const FORM: Step = ["POST /forms", { name: "News", publish: true }];
const FORM_ERRORS: readonly (readonly [code: string, body: object, key?: keyof typeof KEYS])[] = [
  ["invalid_form", { settings: { doubleOptIn: true } }],
  ["form_sender_refused", { settings: { senderAddress: "us@elsewhere.example" } }],
  ["audience_not_found", { settings: { audienceIds: ["aud_none"] } }],
  ["capability_unsupported", { settings: { senderAddress: OTHER } }, "narrow"],
];
const formErrors = FORM_ERRORS.flatMap(([code, body, key]): [string, Producer][] => [
  [`forms.create ${code}`, inTurn(["POST /forms", { name: "News", ...body }, key])],
  [`forms.update ${code}`, inTurn(FORM, ["PATCH /forms/{id}", body, key])],
]);
/** What is asked of the designer. */
const ASKS: Readonly<Record<string, (text: string) => Step[]>> = {
  design: (brief) => [["POST /forms/design", { brief }]],
  redesign: (instructions) => [FORM, ["POST /forms/{id}/redesign", { instructions }]],
};
const aiErrors = Object.entries(ASKS).flatMap(([name, ask]): [string, Producer][] => [
  [`forms.${name} invalid_form`, inTurn(...ask("A form without an email field."))],
  [`forms.${name} ai_not_configured`, within({ limits: { aiActions: "off" } }, ...ask("News."))],
  [`forms.${name} ai_quota_exceeded`, within({ limits: { aiActions: 0 } }, ...ask("News."))],
]);

const KEY: Step = ["POST /keys", { name: "Orders" }];
const REVOKE: Step = ["POST /keys/{id}/revoke", {}];
/** The calls of one key, refused for their reach or since it is revoked. */
const keyErrors = (
  [
    ["update", ["PATCH /keys/{id}", {}]],
    ["rotate", ["POST /keys/{id}/rotate"]],
    ["revoke", REVOKE],
    ["delete", ["DELETE /keys/{id}"]],
  ] as [string, Step][]
).flatMap(([name, [line, body]]): [string, Producer][] => [
  [`keys.${name} beyond_caller_authority`, inTurn(KEY, [line, body, "keeper"])],
  name === "delete"
    ? ["keys.delete not_revoked", inTurn(KEY, [line])]
    : [`keys.${name} revoked`, inTurn(KEY, REVOKE, [line, body])],
]);

const ROLE: Step = ["POST /roles", { name: "Support", permissions: ["emails:read"] }];
/** Sends a request of a role that every workspace begins with. */
const ofRole =
  (builtin: string, method: string, query = ""): Producer =>
  async ({ send }) => {
    const { data } = (await send("GET /roles")).body as unknown as { data: { id: string; builtin: string }[] };
    const idOf = (name: string): string => data.find((one) => one.builtin === name)?.id ?? "";
    const init = method === "PATCH" ? { body: {} } : {};
    return send(`${method} /roles/${idOf(builtin)}${query.replace("owner", idOf("owner"))}`, init);
  };
const toolErrors = ["dmarc", "bimi", "deliverability"].flatMap((name): [string, Producer][] => [
  [`tools.${name} invalid_parameter`, inTurn([`GET /tools/${name}?domain=localhost`])],
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
const mailbox = (body: object = {}, options: SandboxOptions = {}, times = 1): Producer =>
  within(
    { mailServers: MAIL_SERVERS, ...options },
    ...copies(times, ["POST /connected-mailboxes", { ...LOGIN, ...body }]),
  );
/** Changes the password of the connected mailbox of a vendor, or of one whose servers have changed since. */
const changeMailbox =
  (server?: MailServerInput, times = 1): Producer =>
  async () => {
    const world = openWorld({ mailServers: MAIL_SERVERS });
    const made = await world.send("POST /connected-mailboxes", { body: LOGIN });
    const [vendors] = world.sandbox.rows("mailboxes") as { id: string }[];
    if (server !== undefined) world.sandbox.setMailServer(server);
    const id = server === undefined ? vendors?.id : String(made.body["id"]);
    return inTurn(...copies(times, [`PATCH /connected-mailboxes/${id}`, { password: "p" }]))(world);
  };
const mailboxErrors: Record<string, Producer> = {
  "mailboxes.connect mailbox_address_invalid": mailbox({ email: "nobody" }),
  "mailboxes.discover mailbox_address_invalid": inTurn(["POST /connected-mailboxes/discover", { email: "nobody" }]),
  "mailboxes.discover mailbox_checks_limited": inTurn(
    ...copies(61, ["POST /connected-mailboxes/discover", { email: LOGIN.email }]),
  ),
  "mailboxes.connect mailbox_login_failed": mailbox({ password: "wrong" }),
  "mailboxes.connect connected_mailbox_send_sign_in_failed": mailbox({ email: "ada@mute.example" }),
  "mailboxes.connect mailbox_checks_limited": mailbox({ password: "wrong" }, {}, 11),
  "mailboxes.connect mailbox_settings_unknown": mailbox({ email: "ada@elsewhere.example" }),
  "mailboxes.connect connected_mailbox_send_server_unknown": mailbox({ email: "ada@dumb.example" }),
  "mailboxes.connect mailbox_uses_vendor": mailbox({ email: "eve@vendor.example" }),
  "mailboxes.connect connected_mailbox_domain_hosted": mailbox({ email: "ada@acme.example.com" }),
  "mailboxes.connect connected_mailbox_already_connected": mailbox({}, {}, 2),
  "mailboxes.connect connected_mailbox_connected_elsewhere": mailbox({ email: "ada@taken.example" }),
  "mailboxes.connect workspace_limit_reached": mailbox(
    {},
    { addresses: upTo(100).map((name) => `${name}@acme.example.com`) },
  ),
  "mailboxes.update mailbox_login_failed": changeMailbox({ ...MAIL, password: "new" }),
  "mailboxes.update connected_mailbox_send_sign_in_failed": changeMailbox({ ...MAIL, sends: false }),
  "mailboxes.update mailbox_checks_limited": changeMailbox(MAIL, 10),
  "mailboxes.update connected_mailbox_no_password": changeMailbox(),
};

const FILE: Step = ["POST /files?filename=a.txt", "x"];
const ENDPOINT: Step = ["POST /webhooks", { url: "http://127.0.0.1:9/" }];
const EVENT = { name: "order.shipped", email: "ada@a.example" };
const CONTACT: Step = ["POST /contacts", { email: EVENT.email }];
const withContact = { contacts: [{ email: EVENT.email }] };
const badKey =
  (line: string, body: object): Producer =>
  ({ send }) =>
    send(line, { headers: { "idempotency-key": "a b" }, body });

/** A request for each error that needs one of its own, by call and code. */
export const PRODUCERS: Record<string, Producer> = {
  "contacts.create contact_exists": inTurn(CONTACT, ["POST /contacts", { email: ` ${EVENT.email.toUpperCase()}` }]),
  "contacts.create audience_not_found": inTurn(["POST /contacts", { email: "a@a.example", audienceIds: ["aud_none"] }]),
  "contacts.delete invalid_contact": inTurn(["DELETE /contacts/nobody"]),
  "contacts.setAudiences audience_not_found": inTurn(CONTACT, [
    `PUT /contacts/${EVENT.email}/audiences`,
    { audienceIds: ["aud_none"] },
  ]),
  "files.createLink file_unshareable": inTurn(["POST /files?filename=setup.exe", "MZ"], ["POST /files/{id}/links", {}]),
  "files.links invalid_cursor": inTurn(FILE, ["GET /files/{id}/links?cursor=foreign"]),
  "files.upload invalid_parameter": inTurn(["POST /files?filename=%20", "x"]),
  "files.delete file_in_use": inTurn(FILE, ["POST /files/{id}/links", {}], ["DELETE /files/{id}"]),
  "files.list invalid_parameter": inTurn(["GET /files?since=yesterday"]),
  ...Object.fromEntries([...formErrors, ...aiErrors, ...keyErrors, ...toolErrors]),
  ...mailboxErrors,
  "forms.create workspace_limit_reached": inTurn(...copies(101, FORM)),
  "forms.design workspace_limit_reached": inTurn(...copies(100, FORM), ["POST /forms/design", { brief: "News." }]),
  "forms.copy workspace_limit_reached": inTurn(...copies(100, FORM), ["POST /forms/{id}/copy", {}]),
  "forms.update version_conflict": inTurn(FORM, ["PATCH /forms/{id}", { expectedUpdatedAt: "old" }]),
  "forms.redesign version_conflict": inTurn(FORM, [
    "POST /forms/{id}/redesign",
    { instructions: "x", expectedUpdatedAt: "old" },
  ]),
  "forms.subscribe invalid_form_submission": inTurn(FORM, ["POST /subscribe/{id}", { email: "no" }]),
  "forms.subscribe form_closed": inTurn(
    FORM,
    ["POST /forms/{id}/pause"],
    ["POST /subscribe/{id}", { email: "ada@x.example" }, null],
  ),
  "forms.subscribe form_rate_limited": inTurn(...copies(41, ["POST /subscribe/none", {}, null])),
  "forms.starter form_starter_not_found": inTurn(["GET /forms/starters/none"]),
  "keys.create beyond_caller_authority": inTurn(["POST /keys", { name: "Wide" }, "keeper"]),
  "keys.create role_not_found": inTurn(["POST /keys", { name: "Orders", roleId: "role_none" }]),
  "keys.create workspace_limit_reached": inTurn(...copies(101, KEY)),
  "keys.rotateSelf resource_not_found": ({ send, sandbox }) =>
    send("POST /keys/self/rotate", { token: sandbox.callers.owner() }),
  "keys.list inactive_api_key": ({ sandbox, send }) => {
    const token = sandbox.callers.key();
    sandbox.apiKeys.setStatus(token, "inactive");
    return send("GET /keys", { token });
  },
  "labels.create label_name_taken": inTurn(...named("POST /labels", ["Big orders", "BIG ORDERS"])),
  "labels.create label_limit_reached": inTurn(...named("POST /labels", upTo(51))),
  "labels.update label_name_taken": inTurn(...named("POST /labels", ["Big orders", "Small orders"]), [
    "PATCH /labels/{id}",
    { name: "small ORDERS" },
  ]),
  "roles.create insufficient_authority": inTurn(["POST /roles", { name: "Boss", permissions: ["workspace:manage"] }]),
  "roles.create role_name_taken": inTurn(["POST /roles", { name: "VIEWER", permissions: [] }]),
  "roles.create role_limit_reached": inTurn(...named("POST /roles", upTo(25), { permissions: [] })),
  "roles.update insufficient_authority": inTurn(ROLE, ["PATCH /roles/{id}", { permissions: ["api-keys:read"] }]),
  "roles.update role_name_taken": inTurn(ROLE, ["PATCH /roles/{id}", { name: "billing" }]),
  "roles.update role_immutable": ofRole("owner", "PATCH"),
  "roles.delete invalid_parameter": inTurn(["DELETE /roles/role_0123456789abcdef01234567?reassignTo="]),
  "roles.delete role_undeletable": ofRole("owner", "DELETE"),
  "roles.delete role_in_use": (world) => {
    world.sandbox.callers.member({ role: "Viewer" });
    return ofRole("viewer", "DELETE")(world);
  },
  "roles.delete role_immutable": ofRole("viewer", "DELETE", "?reassignTo=owner"),
  "sending.resume step_up_required": ({ sandbox, send }) =>
    send("POST /sending/streams/broadcast/resume", { token: sandbox.callers.owner() }),
  "sending.resume resource_not_found": inTurn(["POST /sending/streams/transactional/resume"]),
  "sending.resume stream_not_paused": inTurn(["POST /sending/streams/broadcast/resume"]),
  "signatures.create signature_name_taken": inTurn(...named("POST /signatures", ["Work", "WORK"], SIGNATURE)),
  "signatures.create signature_limit_reached": inTurn(...named("POST /signatures", upTo(51), SIGNATURE)),
  "signatures.create capability_unsupported": inTurn(["POST /signatures", { ...SIGNATURE, address: OTHER }, "narrow"]),
  "signatures.update signature_name_taken": inTurn(...named("POST /signatures", ["Work", "Home"], SIGNATURE), [
    "PATCH /signatures/{id}",
    { name: "home" },
  ]),
  "signatures.copy signature_limit_reached": inTurn(
    ["POST /signatures", SIGNATURE],
    ...named("POST /signatures", upTo(50), { ...SIGNATURE, address: OTHER }),
    [COPY, { addresses: [OTHER] }],
  ),
  "signatures.copy capability_unsupported": inTurn(
    ["POST /signatures", SIGNATURE],
    [COPY, { addresses: [OTHER] }, "narrow"],
  ),
  "contactEvents.send capability_unsupported": inTurn(["POST /events", EVENT, "narrowMember"]),
  "contactEvents.send contact_not_found": inTurn(["POST /events", EVENT]),
  "contactEvents.send invalid_idempotency_key": badKey("POST /events", EVENT),
  "contactEvents.send invalid_event": inTurn(["POST /events", { ...EVENT, name: "" }]),
  "contactEvents.send idempotency_key_reuse": async () => {
    const { send } = openWorld(withContact);
    const headers = { "idempotency-key": "k" };
    await send("POST /events", { headers, body: EVENT });
    return send("POST /events", { headers, body: { ...EVENT, name: "other" } });
  },
  "contactEvents.send event_rate_limited": within(
    { ...withContact, limits: { eventsPerMinute: 1 } },
    ...copies(2, ["POST /events", EVENT]),
  ),
  "contactEvents.list invalid_cursor": within(withContact, [`GET /contacts/${EVENT.email}/events?cursor=foreign`]),
  "contactEvents.sendBatch invalid_idempotency_key": badKey("POST /events/batch", { events: [EVENT] }),
  "contactEvents.sendBatch event_rate_limited": within({ limits: { eventsPerMinute: 1 } }, [
    "POST /events/batch",
    { events: [EVENT, EVENT] },
  ]),
  "webhooks.deliveries invalid_cursor": inTurn(ENDPOINT, ["GET /webhooks/{id}/deliveries?cursor=foreign"]),
  "webhooks.create invalid_webhook_url": inTurn(["POST /webhooks", { url: "app" }]),
  "webhooks.create capability_unsupported": inTurn(["POST /webhooks", { url: "http://127.0.0.1:9/" }, "narrow"]),
  "webhooks.create workspace_limit_reached": inTurn(...copies(11, ENDPOINT)),
  "webhooks.update invalid_webhook_url": inTurn(ENDPOINT, ["PATCH /webhooks/{id}", { url: "app" }]),
  "webhooks.update capability_unsupported": inTurn(ENDPOINT, ["PATCH /webhooks/{id}", {}, "narrow"]),
  "webhooks.delete capability_unsupported": inTurn(ENDPOINT, ["DELETE /webhooks/{id}", undefined, "narrow"]),
  "webhooks.rotateSecret capability_unsupported": inTurn(ENDPOINT, [
    "POST /webhooks/{id}/rotate-secret",
    undefined,
    "narrow",
  ]),
  "webhooks.replay invalid_parameter": async () => {
    const { sandbox, send } = openWorld({ receive: () => new Response(null) });
    const { id } = sandbox.endpoints.create({ url: "http://127.0.0.1:9/" });
    await sandbox.endpoints.test(id);
    return send(`POST /webhooks/${id}/deliveries/${sandbox.deliveries()[0]?.id}/replay`);
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
