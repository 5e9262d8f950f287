import { CONTRACT } from "#pigeonhole/contract/contract.js";
import { describe, expect, test } from "vitest";
import { openSandbox } from "./support.js";

const SUPPORT = "support@acme.example.com";
const UNKNOWN = `whe_${"0".repeat(24)}`;
const url = "http://127.0.0.1/";

/** Keys of the sandbox: with everything, with nothing, and narrowed to one address. */
const KEYS = { full: "svc_live_full", none: "svc_live_none", narrow: "svc_live_narrow" };

/** The ids that paths are made of. */
interface Ids {
  /** An endpoint for every address, with a failed and a delivered row in its log. */
  id: string;
  failed: string;
  delivered: string;
  /** An endpoint that is off, with a failed row. */
  off: string;
  failedOfOff: string;
}

interface Producer {
  /** Method and path under the base URL. */
  line: (ids: Ids) => string;
  /** @default full */
  key?: keyof typeof KEYS;
  body?: unknown;
}

const at =
  (method: string, rest = "") =>
  ({ id }: Ids) =>
    `${method} /webhooks/${id}${rest}`;
const atUnknown = (method: string, rest = "") => ({ line: () => `${method} /webhooks/${UNKNOWN}${rest}` });
const noScope = (line: Producer["line"], body?: unknown): Producer => ({ line, body, key: "none" });
const narrow = (line: Producer["line"], body?: unknown): Producer => ({ line, body, key: "narrow" });
const collection = (method: string, search = "") => ({ line: () => `${method} /webhooks${search}` });
const replayOf = ({ id, failed }: Ids) => `POST /webhooks/${id}/deliveries/${failed}/replay`;

/** A request for each error that the contract lists for webhook endpoints, by call, code and documented status. */
const PRODUCERS: Record<string, Producer> = {
  "list 403 insufficient_scope": noScope(() => "GET /webhooks"),
  "list 400 invalid_cursor": collection("GET", "?cursor=foreign"),
  "list 422 invalid_parameter": collection("GET", "?limit=0"),
  "get 403 insufficient_scope": noScope(at("GET")),
  "get 404 resource_not_found": atUnknown("GET"),
  "create 403 insufficient_scope": noScope(() => "POST /webhooks", { url }),
  "create 422 invalid_parameter": { ...collection("POST"), body: { url, description: 5 } },
  "create 422 unknown_parameter": { ...collection("POST"), body: { url, enabled: true } },
  "create 422 invalid_webhook_url": { ...collection("POST"), body: { url: "app" } },
  "create 422 workspace_limit_reached": { ...collection("POST"), body: { url } },
  "create 422 capability_unsupported": narrow(() => "POST /webhooks", { url }),
  "update 403 insufficient_scope": noScope(at("PATCH"), {}),
  "update 422 invalid_parameter": { line: at("PATCH"), body: { enabled: "no" } },
  "update 422 unknown_parameter": { line: at("PATCH"), body: { secret: "x" } },
  "update 422 invalid_webhook_url": { line: at("PATCH"), body: { url: "app" } },
  "update 404 resource_not_found": { ...atUnknown("PATCH"), body: {} },
  "update 422 capability_unsupported": narrow(at("PATCH"), {}),
  "delete 403 insufficient_scope": noScope(at("DELETE")),
  "delete 404 resource_not_found": atUnknown("DELETE"),
  "delete 422 capability_unsupported": narrow(at("DELETE")),
  "test 403 insufficient_scope": noScope(at("POST", "/test")),
  "test 404 resource_not_found": atUnknown("POST", "/test"),
  "rotateSecret 403 insufficient_scope": noScope(at("POST", "/rotate-secret")),
  "rotateSecret 404 resource_not_found": atUnknown("POST", "/rotate-secret"),
  "rotateSecret 422 capability_unsupported": narrow(at("POST", "/rotate-secret")),
  "deliveries 403 insufficient_scope": noScope(at("GET", "/deliveries")),
  "deliveries 404 resource_not_found": atUnknown("GET", "/deliveries"),
  "deliveries 400 invalid_cursor": { line: at("GET", "/deliveries?cursor=foreign") },
  "deliveries 422 invalid_parameter": { line: at("GET", "/deliveries?status=open") },
  "delivery 403 insufficient_scope": noScope(({ id, failed }) => `GET /webhooks/${id}/deliveries/${failed}`),
  "delivery 404 resource_not_found": { line: ({ off, failed }) => `GET /webhooks/${off}/deliveries/${failed}` },
  "replay 403 insufficient_scope": noScope(replayOf),
  "replay 404 resource_not_found": { line: ({ id }) => `POST /webhooks/${id}/deliveries/none/replay` },
  "replay 422 invalid_parameter": {
    line: ({ id, delivered }) => `POST /webhooks/${id}/deliveries/${delivered}/replay`,
  },
  "allDeliveries 403 insufficient_scope": noScope(() => "GET /webhooks/deliveries"),
  "allDeliveries 400 invalid_cursor": collection("GET", "/deliveries?cursor=foreign"),
  "allDeliveries 422 invalid_parameter": collection("GET", "/deliveries?status=open"),
  "activity 403 insufficient_scope": noScope(() => "GET /webhooks/activity"),
  "activity 400 invalid_cursor": collection("GET", "/activity?cursor=foreign"),
  "activity 422 invalid_parameter": collection("GET", "/activity?limit=0"),
  "eventTypes 403 insufficient_scope": noScope(() => "GET /webhooks/events"),
  "stats 403 insufficient_scope": noScope(() => "GET /webhooks/stats"),
};

/** A full workspace: two endpoints, each with a delivery that failed. */
async function openFull() {
  const answer = { status: 404 };
  const sandbox = openSandbox({
    receive: () => new Response(null, answer),
    maxEndpoints: 2,
    apiKeys: [
      { token: KEYS.full },
      { token: KEYS.none, scopes: [] },
      { token: KEYS.narrow, addressAllowlist: [SUPPORT] },
    ],
  });
  const [id, off] = [1, 2].map((n) => sandbox.endpoints.create({ url: `${url}${n}` }).id) as [string, string];
  const emitOne = async (status: number): Promise<Record<string, string>> => {
    answer.status = status;
    const { event } = sandbox.emit("email.sent");
    await sandbox.settle();
    const rows = sandbox.deliveries({ eventId: event.id });
    return Object.fromEntries(rows.map((row) => [row.endpointId, row.id]));
  };
  const [failed, delivered] = [await emitOne(404), await emitOne(200)];
  sandbox.endpoints.update(off, { enabled: false });
  const ids: Ids = {
    id,
    off,
    failed: failed[id] ?? "",
    delivered: delivered[id] ?? "",
    failedOfOff: failed[off] ?? "",
  };
  async function send({ line, key = "full", body }: Producer): Promise<string> {
    const [method = "", path = ""] = line(ids).split(" ");
    const response = await sandbox.fetch(`${sandbox.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEYS[key]}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { code } = (await response.json()) as { code?: string };
    return `${response.status} ${code}`;
  }
  return { send };
}

describe("the errors of webhook endpoints", () => {
  test("the table of tested errors has every error that the contract lists for webhook endpoints", () => {
    const documented = Object.entries(CONTRACT.webhooks).flatMap(([name, { errors }]) =>
      errors.map((code) => `${name} ${code}`),
    );
    expect(Object.keys(PRODUCERS).map((name) => name.replace(/ \d+/, ""))).toEqual(documented);
  });

  test.each(Object.entries(PRODUCERS))(
    "the contract lists the error that the sandbox gives: webhooks.%s",
    async (name, producer) => {
      const { send } = await openFull();
      expect(name).toBe(`${name.split(" ")[0]} ${await send(producer)}`);
    },
  );

  test("the contract lists the error of a replay to an endpoint that is off", async () => {
    const { send } = await openFull();
    const line = ({ off, failedOfOff }: Ids) => `POST /webhooks/${off}/deliveries/${failedOfOff}/replay`;
    const [status, code] = (await send({ line })).split(" ");
    expect(status).toBe("422");
    expect(CONTRACT.webhooks.replay.errors).toContain(code);
  });
});
