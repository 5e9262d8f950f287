import { errorMessage } from "../base/error-text.js";
import { PigeonholeError } from "../base/error.js";
import type { Report } from "./lines/dev-event.js";
import type { RegisterOptions } from "./options.js";
import { type Registration, registerEndpoint } from "./register/registration.js";

/** Where the service can reach the dev server, and the endpoint that points there. */
export class PublicUrl {
  readonly #path: string;
  readonly #changed: () => void;
  readonly #report: Report;
  #url: string | null = null;
  #registration: Registration | undefined;

  /** `changed` is called when another URL is found. */
  constructor(given: string | undefined, deps: { path: string; changed: () => void; report: Report }) {
    this.#path = deps.path;
    this.#changed = deps.changed;
    this.#report = deps.report;
    if (given !== undefined) this.begin(given);
  }

  /** Null without a tunnel. */
  get value(): string | null {
    return this.#url;
  }

  /** The URL before anything knows one. */
  begin(url: string): void {
    this.#url = withCapturePath(url, this.#path);
  }

  /** Another URL: the endpoint is moved to it. */
  set(url: string): void {
    this.begin(url);
    this.#changed();
    const registration = this.#registration;
    registration?.move(this.#url ?? "").catch((error: unknown) =>
      this.#report({
        kind: "problem",
        what: `The endpoint ${registration.endpointId} could not be moved to ${this.#url}: ${errorMessage(error)}`,
        fix: "Change its URL at the service, or start again.",
      }),
    );
  }

  /** Makes an endpoint for the URL; undefined while there is none. */
  async register({ client, eventTypes = [] }: RegisterOptions, cwd: string): Promise<Registration | undefined> {
    if (this.#url === null) return undefined;
    this.#registration = await registerEndpoint({ client, url: this.#url, eventTypes, cwd, report: this.#report });
    return this.#registration;
  }

  async unregister(): Promise<void> {
    try {
      await this.#registration?.close();
    } catch (error) {
      this.#report({
        kind: "problem",
        what: `The endpoint ${this.#registration?.endpointId} could not be deleted: ${errorMessage(error)}`,
        fix: "The next run in this folder deletes it, or delete it at the service.",
      });
    }
  }
}

/**
 * The URL to give to the service: an origin gets the capture path, a URL with a path stays. Throws `invalid_option`.
 */
function withCapturePath(publicUrl: string, path: string): string {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new PigeonholeError("invalid_option", `publicUrl must be an https URL, got "${publicUrl}".`);
  }
  if (url.pathname === "/") url.pathname = path;
  return url.href;
}
