import { API_RESOURCES, CALL_NAMES, type NamedOperation, listOperations } from "../../contract/contract.js";
import { usageError } from "../frame/command-error.js";
import { nearestWord } from "../../base/nearest-word.js";

/** What a word names: a call, or a resource with its calls. */
export type Named =
  | { kind: "call"; call: string; row: NamedOperation }
  | { kind: "resource"; resource: string; rows: NamedOperation[] };

/** What a word names. The error for an unknown one has the nearest name. */
export function findCall(word: string): Named {
  const rows = listOperations();
  const row = rows.find(({ resource, name }) => `${resource}.${name}` === word);
  if (row !== undefined) return { kind: "call", call: word, row };
  const ofResource = rows.filter(({ resource }) => resource === word);
  if (ofResource.length > 0) return { kind: "resource", resource: word, rows: ofResource };
  throw usageError(noSuchCall(word));
}

function noSuchCall(word: string): string {
  const near = nearestWord(word, [...CALL_NAMES, ...API_RESOURCES]);
  if (near !== undefined)
    return `The API has no call ${word}. Did you mean ${near}? pigeonhole api lists what there is.`;
  const [resource = ""] = word.split(".");
  const known = API_RESOURCES.includes(resource) ? resource : nearestWord(resource, API_RESOURCES);
  if (known === undefined) return `The API has no call ${word}. Its resources are ${API_RESOURCES.join(", ")}.`;
  const calls = CALL_NAMES.filter((call) => call.startsWith(`${known}.`));
  return `The API has no call ${word}. Those of ${known} are ${calls.join(", ")}.`;
}
