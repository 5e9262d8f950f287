import {
  type OptionsOf,
  defineOptions,
  required,
  requiredCallable,
  requiredObject,
  wholeNumber,
} from "../base/options.js";
import type { Client } from "../client/call-types.js";
import { handOver as handOverSecret } from "./hand-over.js";

/** What `rotateSecret` needs: a client, the endpoint, and where the new secret is stored. */
export interface RotateSecretOptions {
  /** A client whose API key has the scope `webhooks:write`. */
  client: Pick<Client, "webhooks">;
  /** Id of the endpoint, `whe_` and 24 hex digits. */
  endpointId: string;
  /**
   * Writes the new secret to where the receivers read theirs: the file, secret manager or table behind the `secrets`
   * function. Called again, with the same secret, until it succeeds.
   */
  handOver: (secret: string) => void | Promise<void>;
  /** Tries of `handOver`, at least 1, with waits of 0.1 s, 0.2 s, 0.4 s, … between them. @default 5 */
  tries?: number | undefined;
}

/** The defaults and checks of {@link RotateSecretOptions}. */
export const ROTATE_OPTIONS = defineOptions("rotateSecret", {
  client: requiredObject<RotateSecretOptions["client"]>(),
  endpointId: required<string>(),
  handOver: requiredCallable<RotateSecretOptions["handOver"]>(),
  tries: wholeNumber({ default: 5, min: 1 }),
} satisfies OptionsOf<RotateSecretOptions>);

/**
 * Rotates an endpoint's secret without losing a delivery. The service leaves a gap: the old secret stops the moment the
 * new one exists. Receivers whose `secrets` is a function bridge it: what they cannot verify yet is answered 503 and
 * sent again, and the first mismatch makes them read the secret again. Needs `unverified: "retry"`, the default.
 *
 * Resolves with the new secret when it has been handed over. Rejects with what the API call rejects with (nothing has
 * changed then, unless no answer came), `invalid_option` for an option that cannot be right, or with a
 * NotHandedOverError, which still has what must be stored by hand: deliveries are answered 503 until then.
 */
export async function rotateSecret(options: RotateSecretOptions): Promise<string> {
  const { client, endpointId, handOver, tries } = ROTATE_OPTIONS.resolve(options);
  const { secret } = await client.webhooks.rotateSecret(endpointId);
  return handOverSecret({ what: `The secret of endpoint ${endpointId}`, secret, pass: handOver, tries });
}
