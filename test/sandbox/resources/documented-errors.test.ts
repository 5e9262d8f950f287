import { describe, expect, test } from "vitest";
import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { type Called, verdict } from "../api/support.js";
import { type KEYS, ROWS, SUPPORT, type World, openWorld, requestOf } from "./support.js";

type Producer = (world: World) => Promise<Called>;

/** The requests for errors that are the same for every row; undefined where a row needs one of its own. */
function usualProducer(operation: Operation, code: ApiErrorCode): Producer | undefined {
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
  if (code === "capability_unsupported" && operation.path.startsWith("/chats")) return send({}, "narrow");
  if (code === "capability_unsupported" && operation.path.startsWith("/contacts")) return send({}, "narrowMember");
  // A workspace without rows has none of the ids of the examples.
  return code.endsWith("_not_found") && params !== undefined ? send() : undefined;
}

/** Creates labels, and answers the last creation. */
const labels = async ({ send }: World, ...names: string[]): Promise<Called> => {
  let last: Called | undefined;
  for (const name of names) last = await send("POST /labels", { body: { name } });
  if (last === undefined) throw new Error("No label was created.");
  return last;
};
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

const SIGNATURE = { address: SUPPORT, name: "Work", html: "<p>Ada</p>" };
const OTHER = "billing@acme.example.com";
/** Creates signatures of an address, and answers the last creation. */
const signatures = async ({ send }: World, count: number, address = SUPPORT): Promise<Called> => {
  let last = await send("POST /signatures", { body: { ...SIGNATURE, address } });
  for (let index = 1; index < count; index += 1) {
    last = await send("POST /signatures", { body: { ...SIGNATURE, address, name: `n${index}` } });
  }
  return last;
};
/** Copies the only signature of the support address to another one. */
const copySignature = async (world: World, key: "full" | "narrow"): Promise<Called> => {
  const { body } = await signatures(world, 1);
  return world.send(`POST /signatures/${String(body["id"])}/copy`, { key, body: { addresses: [OTHER] } });
};

/** Creates a form and answers the creation. */
const form = ({ send }: World, body: object = {}): Promise<Called> =>
  send("POST /forms", { body: { name: "News", publish: true, ...body } });
/** Sends a call of a new form; `line` has its id. */
const ofForm = async (world: World, line: (id: string) => string, body?: unknown): Promise<Called> => {
  const made = await form(world);
  return world.send(line(String(made.body["id"])), body === undefined ? {} : { body });
};
const FORM_ERRORS: readonly (readonly [code: string, body: object, key?: keyof typeof KEYS])[] = [
  ["invalid_form", { settings: { doubleOptIn: true } }],
  ["form_sender_refused", { settings: { senderAddress: "us@elsewhere.example" } }],
  ["audience_not_found", { settings: { audienceIds: ["aud_none"] } }],
  ["capability_unsupported", { settings: { senderAddress: OTHER } }, "narrow"],
];
const formErrors = FORM_ERRORS.flatMap(([code, body, key = "full"]): [string, Producer][] => [
  [`forms.create ${code}`, ({ send }) => send("POST /forms", { key, body: { name: "News", ...body } })],
  [
    `forms.update ${code}`,
    async (world) => {
      const made = await form(world);
      return world.send(`PATCH /forms/${String(made.body["id"])}`, { key, body });
    },
  ],
]);
const aiErrors = (["design", "redesign"] as const).flatMap(
  (name): [string, (world: World, text: string) => Promise<Called>][] => [
    [
      name,
      (world, text) =>
        name === "design"
          ? world.send("POST /forms/design", { body: { brief: text } })
          : ofForm(world, (id) => `POST /forms/${id}/redesign`, { instructions: text }),
    ],
  ],
);

/** A request for each other error that the contract lists, by call and code. */
const PRODUCERS: Record<string, Producer> = {
  "contacts.create contact_exists": async ({ send }) => {
    await send("POST /contacts", { body: { email: "ada@a.example" } });
    return send("POST /contacts", { body: { email: " Ada@A.example" } });
  },
  "contacts.create audience_not_found": ({ send }) =>
    send("POST /contacts", { body: { email: "ada@a.example", audienceIds: ["aud_none"] } }),
  "contacts.delete invalid_contact": ({ send }) => send("DELETE /contacts/nobody"),
  "contacts.setAudiences audience_not_found": async ({ send }) => {
    await send("POST /contacts", { body: { email: "ada@a.example" } });
    return send("PUT /contacts/ada@a.example/audiences", { body: { audienceIds: ["aud_none"] } });
  },
  "contacts.people capability_unsupported": ({ send }) => send("GET /people", { key: "narrowMember" }),
  "files.createLink file_unshareable": async ({ send }) => {
    const { body } = await send("POST /files?filename=setup.exe", { body: "MZ" });
    return send(`POST /files/${String(body["id"])}/links`, { body: {} });
  },
  "files.links invalid_cursor": async ({ send }) => {
    const { body } = await send("POST /files?filename=a.txt", { body: "x" });
    return send(`GET /files/${String(body["id"])}/links?cursor=foreign`);
  },
  "files.upload invalid_parameter": ({ send }) => send("POST /files?filename=%20", { body: "x" }),
  "files.delete file_in_use": async ({ send }) => {
    const { body } = await send("POST /files?filename=a.txt", { body: "x" });
    await send(`POST /files/${String(body["id"])}/links`, { body: {} });
    return send(`DELETE /files/${String(body["id"])}`);
  },
  ...Object.fromEntries(formErrors),
  ...Object.fromEntries(
    aiErrors.flatMap(([name, ask]): [string, Producer][] => [
      [`forms.${name} invalid_form`, (world) => ask(world, "A form without an email field.")],
      [`forms.${name} ai_not_configured`, () => ask(openWorld({ aiActions: "off" }), "News.")],
      [`forms.${name} ai_quota_exceeded`, () => ask(openWorld({ aiActions: 0 }), "News.")],
    ]),
  ),
  "forms.create workspace_limit_reached": async (world) => {
    for (let index = 0; index < 100; index += 1) await form(world);
    return form(world);
  },
  "forms.design workspace_limit_reached": async (world) => {
    for (let index = 0; index < 100; index += 1) await form(world);
    return world.send("POST /forms/design", { body: { brief: "News." } });
  },
  "forms.copy workspace_limit_reached": async (world) => {
    const made = await form(world);
    for (let index = 0; index < 99; index += 1) await form(world);
    return world.send(`POST /forms/${String(made.body["id"])}/copy`, { body: {} });
  },
  "forms.update version_conflict": (world) => ofForm(world, (id) => `PATCH /forms/${id}`, { expectedUpdatedAt: "old" }),
  "forms.redesign version_conflict": (world) =>
    ofForm(world, (id) => `POST /forms/${id}/redesign`, { instructions: "x", expectedUpdatedAt: "old" }),
  "forms.subscribe invalid_form_submission": (world) => ofForm(world, (id) => `POST /subscribe/${id}`, { email: "no" }),
  "forms.starter form_starter_not_found": ({ send }) => send("GET /forms/starters/none"),
  "forms.subscribe form_closed": async (world) => {
    const made = await form(world);
    await world.send(`POST /forms/${String(made.body["id"])}/pause`);
    return world.send(`POST /subscribe/${String(made.body["id"])}`, { key: null, body: { email: "ada@x.example" } });
  },
  "forms.subscribe form_rate_limited": async ({ send }) => {
    for (let index = 0; index < 40; index += 1) await send("POST /subscribe/none", { key: null, body: {} });
    return send("POST /subscribe/none", { key: null, body: {} });
  },
  "labels.create label_name_taken": (world) => labels(world, "Big orders", "BIG ORDERS"),
  "labels.create label_limit_reached": (world) => labels(world, ...upTo(51)),
  "labels.update label_name_taken": async (world) => {
    await labels(world, "Big orders", "Small orders");
    return world.send("PATCH /labels/USER_BIG_ORDERS", { body: { name: "small ORDERS" } });
  },
  "signatures.create signature_name_taken": async (world) => {
    await signatures(world, 1);
    return world.send("POST /signatures", { body: { ...SIGNATURE, name: "WORK" } });
  },
  "signatures.create signature_limit_reached": (world) => signatures(world, 51),
  "signatures.create capability_unsupported": ({ send }) =>
    send("POST /signatures", { key: "narrow", body: { ...SIGNATURE, address: OTHER } }),
  "signatures.update signature_name_taken": async (world) => {
    const { body } = await signatures(world, 2);
    return world.send(`PATCH /signatures/${String(body["id"])}`, { body: { name: "work" } });
  },
  "signatures.copy signature_limit_reached": async (world) => {
    for (let index = 0; index < 50; index += 1) {
      await world.send("POST /signatures", { body: { ...SIGNATURE, address: OTHER, name: `n${index}` } });
    }
    return copySignature(world, "full");
  },
  "signatures.copy capability_unsupported": (world) => copySignature(world, "narrow"),
};

const DOCUMENTED = ROWS.flatMap(({ call, operation }) =>
  operation.errors.map((code) => ({ name: `${call} ${code}`, operation, code })),
);

describe("the errors of the resources", () => {
  test("the table of requests has no error that the contract does not list", () => {
    const names = new Set(DOCUMENTED.map(({ name }) => name));
    expect(Object.keys(PRODUCERS).filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(DOCUMENTED)(
    "the sandbox gives the error that the contract lists: $name",
    async ({ name, operation, code }) => {
      const produce = PRODUCERS[name] ?? usualProducer(operation, code);
      if (produce === undefined) throw new Error("Write a request for it in PRODUCERS.");
      const answer = await produce(openWorld({ contacts: [] }));
      expect(verdict(answer)).toContain(` ${code}`);
      expect(API_ERROR_CODES[code].status).toContain(answer.status);
      expect(answer.body["message"]).toMatch(/^[A-Z]/);
    },
  );
});
