import { PigeonholeError } from "../base/error.js";
import {
  type OptionsOf,
  defineOptions,
  given,
  requiredCallable,
  requiredObject,
  wholeNumber,
} from "../base/options.js";
import type { Client } from "../client/call-types.js";
import { ApiError, AuthenticationError, NoAnswerError } from "../client/errors.js";
import { handOver as handOverSecret, tryRepeatedly } from "./hand-over.js";

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
  return handOverSecret({ what: `The API key ${id}`, secret: token, pass: handOver, tries });
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
