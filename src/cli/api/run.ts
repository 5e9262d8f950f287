import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { describeCall } from "./describe-call.js";
import { findCall } from "./find-call.js";
import { sendCall } from "./send-call.js";
import type { api } from "./spec.js";
import { API_RESOURCES, type NamedOperation, listOperations } from "../../contract/contract.js";
import { pathNames } from "../../contract/operation.js";
import { countOf } from "../frame/format.js";
import type { Output } from "../frame/output.js";
import { printRows } from "../frame/rows.js";

export const run: RunCommand<typeof api> = async (input) => {
  const { options, args, context } = input;
  const { out } = context;
  if (args.call === undefined) {
    await listResources(out);
    return;
  }
  const named = findCall(args.call);
  if (named.kind === "resource") {
    if (args.params.length > 0)
      throw usageError(`${named.resource} is a resource: name one of its calls, such as ${named.resource}.list.`);
    await listCalls(named.rows, out);
  } else if (options.help) {
    out.result({ call: named.call, operation: named.row.operation.doc }, describeCall(named, out.paint));
  } else {
    await sendCall(named, input);
  }
};

/** Prints the resources of the API with their calls. */
async function listResources(out: Output): Promise<void> {
  const namesOf = (wanted: string): string[] =>
    listOperations().flatMap(({ resource, name }) => (resource === wanted ? [name] : []));
  await printRows(out, API_RESOURCES, {
    columns: ["RESOURCE", "", "CALLS"],
    record: (resource) => ({ resource, calls: namesOf(resource).map((name) => `${resource}.${name}`) }),
    cells: (resource) => [resource, countOf(namesOf(resource).length, "call"), namesOf(resource).join(" ")],
  });
  out.note(
    "pigeonhole api <resource> shows what its calls do, and pigeonhole api <resource.call> --help what one takes.",
  );
}

/** Prints the calls of a resource. */
function listCalls(rows: readonly NamedOperation[], out: Output): Promise<void> {
  const callOf = ({ resource, name }: NamedOperation): string => `${resource}.${name}`;
  return printRows(out, rows, {
    columns: ["CALL", "OPERATION", ""],
    record: (row) => {
      const { method, path, doc } = row.operation;
      return { call: callOf(row), method, path, doc };
    },
    cells: (row) => {
      const { method, path, doc } = row.operation;
      const params = pathNames(path).map((param) => `<${param}>`);
      return [[callOf(row), ...params].join(" "), `${method} ${path}`, doc];
    },
  });
}
