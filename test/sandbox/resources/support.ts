import { type Client, createClient } from "pigeonhole/client";
import type { Sandbox, SandboxOptions } from "pigeonhole/sandbox";
import { type NamedOperation, listOperations } from "#pigeonhole/contract/contract.js";
import { type Operation, pathNames } from "#pigeonhole/contract/operation.js";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import { encodeQueryValue } from "#pigeonhole/contract/query-text.js";
import { RESOURCE_NAMES } from "#pigeonhole/sandbox/resources/create-resources.js";
import { type CallInit, type Called, callerOf, verdict } from "../api/support.js";
import { openSandbox } from "../support.js";

/** Keys of the workspace: with everything, with nothing, narrowed to one address, and those of members. */
export const KEYS = {
  full: "svc_live_full",
  none: "svc_live_none",
  narrow: "svc_live_narrow",
  /** Makes keys and holds no other scope. */
  keeper: "svc_live_keeper",
  /** Of an app that a member connected. */
  member: "svc_live_member",
  /** Of an app of a member who reaches one address. */
  narrowMember: "svc_live_narrow_member",
};
export const SUPPORT = "support@acme.example.com";

/** What goes with a request. `token`: instead of a key by its name. @default the key with everything */
export type WorldInit = Omit<CallInit, "key"> & { key?: keyof typeof KEYS | null; token?: string | undefined };

/** A request that a world was sent, and how to send it another one. */
export interface Sent {
  line: string;
  init: WorldInit;
  send: World["send"];
}

/** An answer with its request. */
export type Answered = Called & { sent: Sent };

/** A workspace and what it takes to call its API. */
export interface World {
  sandbox: Sandbox;
  /** `line` is a method and a path; the body is an object, a text or bytes. */
  send: (line: string, init?: WorldInit) => Promise<Answered>;
  /** The verdict on such a request. */
  called: (line: string, body?: unknown, token?: string) => Promise<string>;
  /** A client with a key, which repeats no call. */
  clientOf: (apiKey: string) => Client;
  /** The one with the key with everything. */
  client: Client;
}

export function openWorld(options: SandboxOptions = {}): World {
  const sandbox = openSandbox({
    apiKeys: [
      { token: KEYS.full, scopes: SCOPES },
      { token: KEYS.none, scopes: [] },
      { token: KEYS.keeper, scopes: ["keys:manage"] },
      { token: KEYS.narrow, addressAllowlist: ["Support@ACME.example.com"] },
      { token: KEYS.member, member: "grace" },
      { token: KEYS.narrowMember, member: "grace", addressAllowlist: [SUPPORT] },
    ],
    ...options,
  });
  const call = callerOf((url, init) => sandbox.fetch(url, init), sandbox.baseUrl);
  const send: World["send"] = async (line, init = {}) => {
    const { key = "full", token, ...rest } = init;
    const answer = await call(line, { ...rest, key: token ?? (key === null ? null : KEYS[key]) });
    return { ...answer, sent: { line, init, send } };
  };
  const called: World["called"] = async (line, body, token) => verdict(await send(line, { body, token }));
  const clientOf = (apiKey: string): Client =>
    createClient({ ...sandbox.clientOptions, apiKey, maxRetries: 0, eventsPerMinute: 1_000_000 });
  return { sandbox, send, called, clientOf, client: clientOf(KEYS.full) };
}

/** Everything that the resources hold. */
export const stateOf = ({ sandbox }: World): unknown => ({
  ...Object.fromEntries(RESOURCE_NAMES.map((name) => [name, sandbox.rows(name).map(withoutUse)])),
  endpoints: sandbox.endpoints.list(),
  contactEvents: sandbox.contactEvents,
});

/** A row without what every call of a key changes. */
function withoutUse(row: object): object {
  return { ...row, totalUses: undefined, lastUsedAt: undefined };
}

/** A row of the contract by the name of its call. */
export interface CallRow extends NamedOperation {
  call: string;
}

/** Every row of the contract. */
export const ALL_ROWS: readonly CallRow[] = listOperations().map((row) => ({
  ...row,
  call: `${row.resource}.${row.name}`,
}));

/** The rows of the resources whose state is in `src/sandbox/resources/`. */
export const ROWS: readonly CallRow[] = ALL_ROWS.filter(({ resource }) =>
  (RESOURCE_NAMES as readonly string[]).includes(resource),
);

/** What is sent for a row: its example, with other values where they are given. */
export interface RowRequest {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

export function requestOf(operation: Operation, over: RowRequest = {}): { line: string; init: { body?: unknown } } {
  const { example, method, path, uploads } = operation;
  const params = { ...example.params, ...over.params };
  const filled = pathNames(path).reduce(
    (filling, name) => filling.replace(`{${name}}`, encodeURIComponent(params[name] ?? "")),
    path as string,
  );
  const pairs = Object.entries({ ...example.query, ...over.query }).flatMap(([name, value]) => {
    const text = encodeQueryValue(value);
    return text === undefined ? [] : [[name, text] satisfies [string, string]];
  });
  const search = pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
  const body = "body" in over ? over.body : uploads === undefined ? example.body : "the bytes of a file";
  return { line: `${method} ${filled}${search}`, init: body === undefined ? {} : { body } };
}
