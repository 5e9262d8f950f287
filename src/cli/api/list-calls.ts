import { type NamedOperation, listOperations } from "../../contract/contract.js";
import { pathNames } from "../../contract/operation.js";
import { countOf, formatTable } from "../frame/format.js";
import type { Output } from "../frame/output.js";
import { RESOURCE_NAMES } from "./spec.js";

/** Prints the resources of the API with their calls. */
export function listResources(out: Output): void {
  const rows = RESOURCE_NAMES.map((resource) => {
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
export function listCalls(rows: readonly NamedOperation[], out: Output): void {
  const cells = rows.map(({ resource, name, operation }) => {
    const { doc, method, path } = operation;
    const call = `${resource}.${name}`;
    if (out.isJson) out.result({ call, method, path, doc }, "");
    return [[call, ...pathNames(path).map((param) => `<${param}>`)].join(" "), `${method} ${path}`, doc];
  });
  if (!out.isJson) out.result({}, formatTable(["CALL", "OPERATION", ""], cells, out.paint.dim));
}
