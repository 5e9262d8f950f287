import { nearestWord } from "../../base/nearest-word.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { describeCall } from "./describe-call.js";
import { sendCall } from "./send-call.js";
import type { api } from "./spec.js";
import { API_RESOURCES, CALL_NAMES, type NamedOperation, listOperations } from "../../contract/contract.js";
import { pathNames } from "../../contract/operation.js";
import { countOf } from "../frame/format.js";
import { type Output, printRows } from "../frame/output.js";

export const run: RunCommand<typeof api> = async (input) => {
  const { options, args, context } = input;
  const { out } = context;
  if (args.call === undefined) {
    await listResources(out);
    return;
  }
  const { call, params } = args;
  const row = listOperations().find((each) => callOf(each) === call);
  const ofResource = listOperations().filter(({ resource }) => resource === call);
  if (row === undefined && ofResource.length === 0) throw usageError(noSuchCall(call));
  if (row === undefined) {
    if (params.length > 0) throw usageError(`${call} is a resource: name one of its calls, such as ${call}.list.`);
    await listCalls(ofResource, out);
  } else if (options.help) {
    out.result({ call, operation: row.operation.doc }, describeCall({ call, row }, out.paint));
  } else {
    await sendCall({ call, row }, input);
  }
};

const callOf = ({ resource, name }: NamedOperation): string => `${resource}.${name}`;

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

function noSuchCall(word: string): string {
  const near = nearestWord(word, [...CALL_NAMES, ...API_RESOURCES]);
  if (near !== undefined)
    return `The API has no call ${word}. Did you mean ${near}? pigeonhole api lists what there is.`;
  const [resource = ""] = word.split(".");
  const known = API_RESOURCES.includes(resource) ? resource : nearestWord(resource, API_RESOURCES);
  if (known === undefined) return `The API has no call ${word}. Its resources are ${API_RESOURCES.join(", ")}.`;
  const calls = CALL_NAMES.filter((call) => call.startsWith(`${known}.`));
  return `The API has no call ${word}. Calls of ${known}: ${calls.join(", ")}.`;
}
