import { openApiDocument } from "../../contract/open-api-document.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { describeCall } from "./describe-call.js";
import { BASE_URL_VARIABLE } from "../values/api-client.js";
import { readVariable } from "../values/secret-option.js";
import { findCall } from "./find-call.js";
import { sendCall } from "./send-call.js";
import type { api } from "./spec.js";
import { API_RESOURCES, type NamedOperation, listOperations } from "../../contract/contract.js";
import { pathNames } from "../../contract/operation.js";
import { countOf, formatTable } from "../frame/format.js";
import type { Output } from "../frame/output.js";

/** The documentation does not name the service's host. */
const EXAMPLE_URL = "https://api.example.com/v1";

export const run: RunCommand<typeof api> = async (input) => {
  const { options, args, context } = input;
  const { out, version } = context;
  if (options.openapi) {
    if (args.call !== undefined) throw usageError("--openapi is about all operations: leave out the call.");
    const document = openApiDocument({ version, baseUrl: readVariable(BASE_URL_VARIABLE, context) ?? EXAMPLE_URL });
    out.raw(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  if (args.call === undefined) {
    listResources(out);
    return;
  }
  const named = findCall(args.call);
  if (named.kind === "resource") {
    if (args.params.length > 0)
      throw usageError(`${named.resource} is a resource: name one of its calls, such as ${named.resource}.list.`);
    listCalls(named.rows, out);
  } else if (options.help) {
    out.result({ call: named.call, operation: named.row.operation.doc }, describeCall(named, out.paint));
  } else {
    await sendCall(named, input);
  }
};

/** Prints the resources of the API with their calls. */
function listResources(out: Output): void {
  const rows = API_RESOURCES.map((resource) => {
    const calls = listOperations().filter((row) => row.resource === resource);
    const names = calls.map(({ name }) => name);
    if (out.isJson) out.result({ resource, calls: names.map((name) => `${resource}.${name}`) }, "");
    return [resource, countOf(names.length, "call"), names.join(" ")];
  });
  if (out.isJson) return;
  out.result({}, formatTable(["RESOURCE", "", "CALLS"], rows, out.paint.dim));
  out.note(
    "pigeonhole api <resource> shows what its calls do, and pigeonhole api <resource.call> --help what one takes.",
  );
}

/** Prints the calls of a resource. */
function listCalls(rows: readonly NamedOperation[], out: Output): void {
  const cells = rows.map(({ resource, name, operation }) => {
    const { doc, method, path } = operation;
    const call = `${resource}.${name}`;
    if (out.isJson) out.result({ call, method, path, doc }, "");
    return [[call, ...pathNames(path).map((param) => `<${param}>`)].join(" "), `${method} ${path}`, doc];
  });
  if (!out.isJson) out.result({}, formatTable(["CALL", "OPERATION", ""], cells, out.paint.dim));
}
