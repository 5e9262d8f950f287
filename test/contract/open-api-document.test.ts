import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import { listOperations } from "#pigeonhole/contract/contract.js";
import { openApiDocument } from "#pigeonhole/contract/open-api-document.js";

interface Described {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: { name: string; in: string; required: boolean; schema: object; explode?: boolean }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }>; "x-codes"?: string[] }>;
}

const rows = listOperations().map((row) => ({ ...row, call: `${row.resource}.${row.name}` }));
let paths: Record<string, Record<string, Described>>;

beforeAll(() => {
  const document = openApiDocument({ version: "1.2.3", baseUrl: "https://api.example.com/v1" });
  // As it is printed.
  ({ paths } = JSON.parse(JSON.stringify(document)) as { paths: typeof paths });
});

describe("the OpenAPI document", () => {
  test("the OpenAPI document is valid for a validator that is not ours", async () => {
    const document = openApiDocument({ version: "1.2.3", baseUrl: "https://api.example.com/v1" });
    const validator = new Validator();
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  test("the validator finds what is wrong with a document", async () => {
    const info = { title: "t", version: "1" };
    const broken = { openapi: "3.1.0", info, paths: { "/labels": { get: { responses: 5 } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test.each(rows)("the OpenAPI document has $call with its scopes, fields and errors", ({ call, operation }) => {
    const { path, method, params, query, body, uploads, downloads, scope, status } = operation;
    const described = paths[path]?.[method.toLowerCase()];
    const errors = errorCodesOf(operation);
    expect(described?.operationId).toBe(call);
    if (described === undefined) return;
    const names = (place: string) => described.parameters.filter((one) => one.in === place).map(({ name }) => name);
    expect(names("path")).toEqual(Object.keys(params?.shape ?? {}));
    expect(names("query")).toEqual(Object.keys(query?.shape ?? {}));
    expect(names("header")).toEqual(operation.retry === "with-key" ? ["idempotency-key"] : []);
    expect(Object.keys(described.requestBody?.content ?? {})).toEqual(
      uploads === undefined ? (body === undefined ? [] : ["application/json"]) : ["*/*"],
    );
    expect(described.responses[String(status[0])]?.content).toHaveProperty([downloads ? "*/*" : "application/json"]);
    const codes = Object.values(described.responses).flatMap((answer) => answer["x-codes"] ?? []);
    expect([...new Set(codes)].toSorted()).toEqual([...errors].toSorted());
    const common = operation.credential === "none" ? [400, 404, 422, 500] : [400, 401, 403, 404, 422, 500];
    const documented = new Set([...common, ...status, ...errors.flatMap((code) => API_ERROR_CODES[code].status)]);
    expect(Object.keys(described.responses)).toEqual([...[...documented].map(String).toSorted(), "default"]);
    for (const code of errors) {
      for (const one of API_ERROR_CODES[code].status) {
        expect(described.responses[String(one)]?.["x-codes"], `${one} ${code}`).toContain(code);
      }
    }
    const scopes = described.security.flatMap(({ apiKey = [] }) => apiKey);
    expect(JSON.stringify(scope ?? [])).toContain(JSON.stringify(scopes).replaceAll(/[[\]]/g, ""));
    const anyOf = typeof scope === "object" && scope !== null && "anyOf" in scope ? scope.anyOf.length : 1;
    expect(described.security).toHaveLength(operation.credential === "none" ? 0 : anyOf);
    // OpenAPI reads it as "not in requests".
    expect(JSON.stringify(described)).not.toContain("readOnly");
  });
});
