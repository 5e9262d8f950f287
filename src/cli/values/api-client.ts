import type { Client } from "../../client/call-types.js";
import { createClient } from "../../client/create-client.js";
import { refusedAs, usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { readVariable } from "./secret-option.js";

export const BASE_URL_VARIABLE = "PIGEONHOLE_BASE_URL";
export const API_KEY_VARIABLE = "PIGEONHOLE_API_KEY";

/** A client of the API that the environment, `.env` or a running dev names. */
export function openClient(context: CommandContext): Client {
  const [baseUrl, apiKey] = [readVariable(BASE_URL_VARIABLE, context), readVariable(API_KEY_VARIABLE, context)];
  if (baseUrl === undefined)
    throw usageError(
      `No API: set ${BASE_URL_VARIABLE} in the environment or in .env, or run pigeonhole dev --with-sandbox in this folder.`,
    );
  if (apiKey === undefined) throw usageError(`No API key: set ${API_KEY_VARIABLE} in the environment or in .env.`);
  return refusedAs(
    (message) => message.replace(/^baseUrl/, BASE_URL_VARIABLE).replace(/^apiKey/, API_KEY_VARIABLE),
    () => createClient({ baseUrl, apiKey }),
  );
}
