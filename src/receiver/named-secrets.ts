import { PigeonholeError } from "../base/error.js";
import { SOURCE_NAME, SOURCE_NAME_RULE } from "../protocol/inbox-id.js";
import { checkEndpointSecrets } from "../protocol/secret.js";

/** A whole secret with `whsec_`, or several, newest first. */
export type EndpointSecrets = string | readonly string[];

/** Secrets of one endpoint, or of several by the names of their sources. */
export type GivenSecrets = EndpointSecrets | Readonly<Record<string, EndpointSecrets>>;

/** A secret, and whose it is. */
export interface SecretOfSource {
  /** Name of the source; empty without names. */
  source: string;
  /** Place among the secrets of the source, 0 for the newest. */
  index: number;
  secret: string;
}

/**
 * The secrets as one list. Throws `invalid_secret` for what cannot be secrets, and for a secret of two sources, whose
 * events would be of either. The message never has a secret, nor a name that is none, which may be one.
 */
export function listSecrets(secrets: GivenSecrets): SecretOfSource[] {
  const isNamed = typeof secrets === "object" && secrets !== null && !Array.isArray(secrets);
  const bySource = isNamed ? Object.entries(secrets as Record<string, EndpointSecrets>) : [["", secrets] as const];
  if (bySource.length === 0) throw refused("secrets is empty: give each source its secret.");
  const list = bySource.flatMap(([source, given]) => {
    if (!SOURCE_NAME.test(source)) throw refused(`The names in secrets must ${SOURCE_NAME_RULE}.`);
    const of = (typeof given === "string" ? [given] : given) as readonly string[];
    checkEndpointSecrets(isNamed ? `secrets[${JSON.stringify(source)}]` : "secrets", of);
    return of.map((secret, index) => ({ source, index, secret }));
  });
  const sources = new Map(list.map(({ secret, source }) => [secret, source]));
  const double = list.find(({ secret, source }) => sources.get(secret) !== source);
  if (double === undefined) return list;
  throw refused(`The sources "${double.source}" and "${sources.get(double.secret) ?? ""}" have the same secret.`);
}

function refused(message: string): PigeonholeError {
  return new PigeonholeError("invalid_secret", message);
}
