import { isPigeonholeError } from "../../base/error.js";
import type { Client } from "../../client/call-types.js";
import { createClient } from "../../client/create-client.js";
import { InvalidInputError } from "../../client/errors.js";
import { usageError } from "../frame/command-error.js";
import type { CommandContext } from "../frame/context.js";
import { readNamed, readVariable } from "./secret-option.js";

/** `--base-url` and `--api-key`, as given. */
export interface ClientFlags {
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

export const BASE_URL_VARIABLE = "PIGEONHOLE_BASE_URL";
export const API_KEY_VARIABLE = "PIGEONHOLE_API_KEY";

/** The flag behind each field of the contract. */
const FLAGS: Record<string, string> = {
  id: "the argument <id>",
  url: "the URL",
  eventTypes: "--event",
  description: "--description",
  addressAllowlist: "--address",
  domainAllowlist: "--domain",
};

/** A client of the API from flags and environment; errors name what is missing. */
export function openClient(options: ClientFlags, context: CommandContext): Client {
  const baseUrl = options.baseUrl ?? readVariable(BASE_URL_VARIABLE, context);
  if (baseUrl === undefined) throw usageError(`No API: give --base-url, or set ${BASE_URL_VARIABLE}.`);
  const apiKey = readApiKey(options.apiKey, context);
  if (apiKey === undefined) throw usageError(`No API key: give --api-key env:NAME, or set ${API_KEY_VARIABLE}.`);
  try {
    return createClient({ baseUrl, apiKey });
  } catch (error) {
    if (!isPigeonholeError(error, "invalid_option")) throw error;
    throw usageError(error.message.replace(/^baseUrl/, "--base-url").replace(/^apiKey/, "--api-key"));
  }
}

/** The key given by `--api-key`, or the default one. */
function readApiKey(given: string | undefined, context: CommandContext): string | undefined {
  return given === undefined ? readVariable(API_KEY_VARIABLE, context) : readNamed("--api-key", given, context).value;
}

/** Waits for a call; input that the contract refuses becomes an error that names the flag. */
export async function namingFlags<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const flag = FLAGS[error.param?.split(".")[0] ?? ""];
    throw flag === undefined ? error : usageError(`${flag} cannot be used; nothing was sent. ${ruleOf(error)}`);
  }
}

/** The sentence of the contract, without the name of the call before it. */
function ruleOf({ message, param }: InvalidInputError): string {
  const mark = `${param ?? ""}: `;
  const at = message.indexOf(mark);
  return at === -1 ? message : message.slice(at + mark.length);
}
