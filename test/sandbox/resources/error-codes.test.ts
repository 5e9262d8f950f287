import { describe, expect, test } from "vitest";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import { verdict } from "../api/support.js";
import { PRODUCERS, usualProducer } from "./operation-cases.js";
import { ALL_ROWS, openWorld } from "./support.js";

/** The answers that the service documents with a param; of the others a call has none or an assumed one. */
const PARAMS: Partial<Record<ApiErrorCode, RegExp>> = {
  audience_not_found: /^(?:settings\.)?audienceIds$/,
  beyond_caller_authority: /^(?:scopes|roleId|mode|expiresInMinutes|addressAllowlist)$/,
  invalid_event: /^(?:name|properties|occurredAt)/,
  label_limit_reached: /^name$/,
  role_name_taken: /^name$/,
  role_not_found: /^roleId$/,
};
/** The same of one call, where others have the code for another reason. */
const CALL_PARAMS: Record<string, RegExp> = {
  "contacts.setAudiences contact_not_found": /^email$/,
  "tools.dmarc invalid_parameter": /^domain$/,
  "tools.bimi invalid_parameter": /^domain$/,
  "tools.deliverability invalid_parameter": /^domain$/,
  "webhooks.create capability_unsupported": /^addressAllowlist$/,
  "webhooks.update capability_unsupported": /^addressAllowlist$/,
};

/** By the situation, where a code has two statuses. Any other call has the first. */
const SITUATIONS: Record<string, number> = {
  "keys.create role_not_found": 422,
  "files.list invalid_parameter": 400,
};

/** What every operation may answer, so that no row lists it. */
const OF_EVERY_CALL: readonly string[] = ["keys.list inactive_api_key", "files.list invalid_parameter"];

/** A request for each error of each row, and for those that any row can have. */
const CASES = ALL_ROWS.flatMap(({ call, operation }) => {
  const common = OF_EVERY_CALL.map((name) => name.split(" ")).flatMap(([of, code]) => (of === call ? [code] : []));
  const codes = new Set([...errorCodesOf(operation), ...(common as ApiErrorCode[])]);
  return [...codes].flatMap((code) => {
    const name = `${call} ${code}`;
    const produce = PRODUCERS[name] ?? usualProducer(operation, code);
    return produce === undefined ? [] : [{ name, code, produce }];
  });
});

/** The params of a code, for a call that names something wrong in them. */
function paramOf(name: string, code: ApiErrorCode): RegExp | undefined {
  if (CALL_PARAMS[name] !== undefined) return CALL_PARAMS[name];
  return /^(?:chats|contacts|contactEvents)\..* capability_unsupported$/.test(name)
    ? /^addressAllowlist$/
    : PARAMS[code];
}

describe("the error codes of the API", () => {
  const codes = Object.keys(API_ERROR_CODES) as ApiErrorCode[];

  test.each(codes)("a request is answered %s, with each of its statuses", (code) => {
    const found = CASES.filter((one) => one.code === code);
    const statuses = found.map(({ name }) => SITUATIONS[name] ?? API_ERROR_CODES[code].status[0]);
    expect(new Set(statuses)).toEqual(new Set(API_ERROR_CODES[code].status));
  });

  test("there are 59 codes, and each situation and param is about a request that there is", () => {
    expect(codes).toHaveLength(59);
    const names = CASES.map(({ name }) => name);
    for (const name of [...Object.keys(SITUATIONS), ...Object.keys(CALL_PARAMS), ...OF_EVERY_CALL]) {
      expect(names).toContain(name);
    }
  });

  test("the table of requests has every error that the contract lists, and no other", () => {
    const names = CASES.map(({ name }) => name);
    const documented = ALL_ROWS.flatMap(({ call, operation }) =>
      errorCodesOf(operation).map((code) => `${call} ${code}`),
    );
    expect(documented.filter((name) => !names.includes(name))).toEqual([]);
    const known = [...documented, ...OF_EVERY_CALL];
    expect(Object.keys(PRODUCERS).filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(CASES)("$name has its status, and its param where one is documented", async ({ name, code, produce }) => {
    const answer = await produce(openWorld({ contacts: [] }));
    expect(verdict(answer).split(" ").slice(0, 2)).toEqual([
      String(SITUATIONS[name] ?? API_ERROR_CODES[code].status[0]),
      code,
    ]);
    const param = paramOf(name, code);
    expect(answer.body["message"]).toMatch(/^[A-Z]/);
    if (param !== undefined) expect(answer.body["param"]).toMatch(param);
    if (code === "invalid_form_submission") expect(answer.body["fields"]).toEqual([{ key: "email", error: "email" }]);
  });
});
