import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import {
  type OptionsOf,
  defineOptions,
  given,
  required,
  requiredCallable,
  requiredObject,
  wholeNumber,
} from "../base/options.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { sleep } from "../base/wait.js";
import type { Client } from "../client/call-types.js";
import { ApiError, AuthenticationError, NoAnswerError } from "../client/errors.js";

/** Short, since a secret that was rotated is known to no other program until it is handed over. */
const BETWEEN_TRIES: Backoff = { initialMs: 0.1 * SECOND, factor: 2, maxMs: 5 * SECOND, jitter: 0.1 };

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
  return handOverRotated({ what: `The secret of endpoint ${endpointId}`, secret, pass: handOver, tries });
}

/** What `rotateApiKey` needs: a client, and where the new key is stored. */
export interface RotateApiKeyOptions {
  /** A client whose own key is rotated: it has the scope `keys:write` or `keys:manage`. */
  client: Pick<Client, "keys">;
  /**
   * Id of another key to rotate instead, 24 hex digits. The client's key has the scope `keys:manage` and reaches as far
   * as this one. A rotation that was cut off can then be repeated.
   *
   * @default the client's own key
   */
  keyId?: string | undefined;
  /**
   * Writes the new key to where the programs read theirs: the file, secret manager or table. Called again, with the
   * same key, until it succeeds.
   */
  handOver: (token: string) => void | Promise<void>;
  /**
   * Tries of `handOver`, and of a call without an answer or with a 5xx, with waits of 0.1 s, 0.2 s, … between them.
   * @default 5
   */
  tries?: number | undefined;
}

/** The defaults and checks of {@link RotateApiKeyOptions}. */
export const ROTATE_KEY_OPTIONS = defineOptions("rotateApiKey", {
  client: requiredObject<RotateApiKeyOptions["client"]>(),
  keyId: given<string>(),
  handOver: requiredCallable<RotateApiKeyOptions["handOver"]>(),
  tries: wholeNumber({ default: 5, min: 1 }),
} satisfies OptionsOf<RotateApiKeyOptions>);

/**
 * Rotates an API key and hands the new one over. The service ends the old key the moment the new one exists, and keeps
 * everything else: id, scopes, role, history. So one of the two works at any moment, whenever this process ends. A call
 * without an answer, or with a 5xx, is repeated, which shows whether it took effect.
 *
 * Resolves with the new key when it has been handed over. Rejects with an {@link ApiKeyLostError} when the client's own
 * key no longer works, with a NotHandedOverError, which still has the new key, with `invalid_option`, or
 * with what the API call rejects with; the old key works then, unless the last try had no answer or a 5xx.
 */
export async function rotateApiKey(options: RotateApiKeyOptions): Promise<string> {
  const { client, keyId, handOver, tries } = ROTATE_KEY_OPTIONS.resolve(options);
  const rotate = () => (keyId === undefined ? client.keys.rotateSelf() : client.keys.rotate(keyId));
  const { id, token } = await tryRepeatedly(rotate, { tries, mayRepeat: isUndecided }).catch((error: unknown) => {
    if (error instanceof AuthenticationError) throw new ApiKeyLostError(error);
    throw error;
  });
  return handOverRotated({ what: `The API key ${id}`, secret: token, pass: handOver, tries });
}

/**
 * True when the call may have taken effect: no answer came, or a 5xx, which may be that of a proxy. A second call of
 * the own key is then answered 401, and one of another key rotates again.
 */
function isUndecided(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof ApiError && error.status >= 500);
}

/** The client's own key does not work: another one of it may have been made that nobody stored. */
export class ApiKeyLostError extends PigeonholeError<"api_key_lost"> {
  override readonly name: string = "ApiKeyLostError";

  constructor(cause: unknown) {
    super(
      "api_key_lost",
      "The API key does not work. If a rotation ended before its hand-over, the new key is lost. Rotate it again with the client of another key that has keys:manage, by rotateApiKey({ client, keyId, handOver }), where keyId is the 24 characters after svc_live_; or make a new key in the service's app.",
      { cause },
    );
  }
}

/** Calls a function until it succeeds, at most `tries` times, with waits between. Rejects with its last error. */
async function tryRepeatedly<Value>(
  work: () => Value | Promise<Value>,
  { tries, mayRepeat = () => true }: { tries: number; mayRepeat?: (error: unknown) => boolean },
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === tries || !mayRepeat(error)) throw error;
      await sleep(waitingClock, backoffDelay(BETWEEN_TRIES, attempt, Math.random));
    }
  }
}

/** A secret or an API key that was rotated. */
interface Rotated {
  /** What it is, for messages. */
  what: string;
  secret: string;
  pass: (secret: string) => unknown;
  tries: number;
}

/** Passes on what was rotated, and returns it. Rejects with a {@link NotHandedOverError}. */
async function handOverRotated({ what, secret, pass, tries }: Rotated): Promise<string> {
  try {
    await tryRepeatedly(() => pass(secret), { tries });
    return secret;
  } catch (error) {
    throw new NotHandedOverError(what, secret, error);
  }
}

/** A secret or an API key was rotated and could not be handed over: it must be stored by hand. */
export class NotHandedOverError extends Error {
  override readonly name = "NotHandedOverError";
  readonly #secret: string;

  constructor(what: string, secret: string, cause: unknown) {
    super(
      `${what} was rotated and could not be handed over; the old one no longer works. Store the new one by hand from error.secret().`,
      { cause },
    );
    this.#secret = secret;
  }

  /** A method, not a field, so that no log or inspection prints it. */
  secret(): string {
    return this.#secret;
  }
}
