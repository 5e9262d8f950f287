import { createSandbox } from "../../sandbox/create-sandbox.js";
import { API_KEY_VARIABLE, BASE_URL_VARIABLE } from "../values/api-client.js";

/** The service's API for the time of a run, so that the app sends nothing to the workspace that `.env` names. */
export interface EmulatedApi {
  /** For the environment of the app. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** `addresses`: those of the workspace's contacts. */
export async function startEmulatedApi(addresses: readonly string[]): Promise<EmulatedApi> {
  const sandbox = createSandbox({ receiverTime: "machine", contacts: addresses.map((email) => ({ email })) });
  const { url } = await sandbox.listen({ port: 0 });
  return {
    env: { [BASE_URL_VARIABLE]: url, [API_KEY_VARIABLE]: sandbox.apiKey },
    close: () => sandbox.close(),
  };
}
