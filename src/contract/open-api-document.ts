import { API_ERROR_CODES, type ApiErrorCode } from "./api-error-codes.js";
import { type NamedOperation, listOperations } from "./contract.js";
import { errorCodesOf } from "./error-codes-of.js";
import { IDEMPOTENCY_KEY_HEADER } from "./idempotency-key.js";
import { type JsonSchema, answerSchemaOf, jsonSchemaOf } from "./json-schema.js";
import { type Operation, takesIdempotencyKey } from "./operation.js";
import type { ScopeRule } from "./scopes.js";

type Json = Record<string, unknown>;

const ERROR_REF = { $ref: "#/components/schemas/Error" };

/** The contract as an OpenAPI 3.1 document. `version`: that of this package; `baseUrl`: where the API is. */
export function openApiDocument({ version, baseUrl }: { version: string; baseUrl: string }): Json {
  const operations = listOperations();
  const paths: Record<string, Json> = {};
  for (const row of operations) {
    const { path, method } = row.operation;
    (paths[path] ??= {})[method.toLowerCase()] = operationObject(row);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "API of the mail workspace",
      version,
      description:
        "As the service documents it. What its documentation does not show is assumed: docs/assumptions.md of pigeonhole.",
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(operations.map(({ resource }) => resource))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key or an OAuth token." } },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

const ERROR_SCHEMA = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string", description: "The service's code. Others than those of the operation are possible." },
    message: { type: "string" },
    param: { type: "string", description: "Field or dotted path that the error is about." },
  },
};

function operationObject({ resource, name, operation }: NamedOperation): Json {
  const body = requestBody(operation);
  return {
    operationId: `${resource}.${name}`,
    tags: [resource],
    summary: operation.doc,
    security: securityOf(operation.scope, operation.credential),
    parameters: parametersOf(operation),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...answersOf(operation), ...errorsOf(operation) },
  };
}

/** The scopes of a key. One entry of the list is enough, and all of its scopes are needed. */
function securityOf(scope: ScopeRule, credential: Operation["credential"]): Json[] {
  if (credential === "none") return [];
  if (scope === null) return [{ apiKey: [] }];
  if (typeof scope === "string") return [{ apiKey: [scope] }];
  return "allOf" in scope ? [{ apiKey: scope.allOf }] : scope.anyOf.map((one) => ({ apiKey: [one] }));
}

function parametersOf(operation: Operation): Json[] {
  const { params, query, example } = operation;
  const of = (place: string, schema: Operation["query"], examples: Json = {}): Json[] => {
    const { properties = {}, required = [] } = schema === undefined ? {} : jsonSchemaOf(schema);
    return Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => ({
      name,
      in: place,
      required: place === "path" || required.includes(name),
      schema: field,
      ...(examples[name] !== undefined && { example: examples[name] }),
      // A list of a query is separated by commas.
      ...(field.type === "array" && { style: "form", explode: false }),
    }));
  };
  const key = { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,255}$" };
  const header = { name: IDEMPOTENCY_KEY_HEADER, in: "header", required: false, schema: key };
  return [
    ...of("path", params, example.params),
    ...of("query", query, example.query),
    ...(takesIdempotencyKey(operation) ? [header] : []),
  ];
}

function requestBody({ body, uploads, example }: Operation): Json | undefined {
  if (uploads !== undefined) {
    const description = `The bytes of the file, 1 to ${uploads.maxBytes}, with their own content type.`;
    return { required: true, description, content: { "*/*": { schema: {} } } };
  }
  if (body === undefined) return undefined;
  const content = { schema: jsonSchemaOf(body), ...(example.body !== undefined && { example: example.body }) };
  return { required: true, content: { "application/json": content } };
}

function answersOf(operation: Operation): Json {
  const schema = answerSchemaOf(operation);
  const content = schema === undefined ? { "*/*": { schema: {} } } : { "application/json": { schema } };
  const [usual, ...others] = operation.status;
  const seen = `As ${usual}: the service's documentation does not say which of the two it is.`;
  return Object.fromEntries([
    [usual, { description: "Success.", content }],
    ...others.map((code) => [code, { description: seen }]),
  ]) as Json;
}

/** Statuses that the service documents for every operation, without their codes. See docs/service.md#errors. */
const COMMON_ERRORS: Readonly<Record<number, string>> = {
  400: "The request cannot be read.",
  401: "The credential is missing or invalid.",
  403: "The key may not do this, or is switched off.",
  404: "It does not exist, or the key does not see it.",
  422: "A value breaks a rule.",
  500: "The service failed.",
};
const OF_CREDENTIALS = new Set([401, 403]);

/** One answer for each status, with the codes of the operation that it can have. */
function errorsOf(operation: Operation): Json {
  const errors = errorCodesOf(operation);
  const common = Object.keys(COMMON_ERRORS).map(Number);
  const ofAll = operation.credential === "none" ? common.filter((status) => !OF_CREDENTIALS.has(status)) : common;
  const statuses = new Set([...ofAll, ...errors.flatMap((code) => API_ERROR_CODES[code].status)]);
  const listed = [...statuses]
    .toSorted((a, b) => a - b)
    .map((status) => [status, errorAnswer(status, errors)] as const);
  const others = { description: "Any other error.", content: { "application/json": { schema: ERROR_REF } } };
  return { ...(Object.fromEntries(listed) as Json), default: others };
}

function errorAnswer(status: number, errors: readonly ApiErrorCode[]): Json {
  const codes = errors.filter((code) => (API_ERROR_CODES[code].status as readonly number[]).includes(status));
  const lines = codes.map((code) => `\`${code}\`: ${API_ERROR_CODES[code].meaning}`);
  return {
    description: lines.length === 0 ? (COMMON_ERRORS[status] ?? "") : lines.join("\n\n"),
    content: { "application/json": { schema: ERROR_REF } },
    ...(codes.length > 0 && { "x-codes": codes }),
  };
}
