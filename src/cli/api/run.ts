import { openApiDocument } from "../../contract/open-api-document.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { describeCall } from "./describe-call.js";
import { findCall } from "./find-call.js";
import { listCalls, listResources } from "./list-calls.js";
import { sendCall } from "./send-call.js";
import type { api } from "./spec.js";

/** The documentation does not name the service's host. */
const EXAMPLE_URL = "https://api.example.com/v1";

export const run: RunCommand<typeof api> = async (input) => {
  const { options, args, context } = input;
  const { out, version } = context;
  if (options.openapi) {
    if (args.call !== undefined) throw usageError("--openapi is about all operations: leave out the call.");
    const document = openApiDocument({ version, baseUrl: options.baseUrl ?? EXAMPLE_URL });
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
