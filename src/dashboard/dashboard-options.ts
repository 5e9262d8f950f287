import { PAYLOAD_ACCESS } from "../web/api/session.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, callable, defineOptions, oneOf, readBy } from "../base/options.js";
import type { DashboardRole, PayloadAccess } from "../web/api/session.js";

/** What `allow` says about a person who is let in. */
export interface DashboardPerson {
  /** `read` looks only; `operate` may also retry, discard, run, pause and resume. */
  role: DashboardRole;
  /** Who it is, such as the id of your user; 1 to 200 whole characters. It is logged with every action. */
  name: string;
  /** How much of payloads this person may see. @default the option `payloads` of `createDashboard` */
  payloads?: PayloadAccess | undefined;
}

/** The person, or nothing for one who is not let in. */
export type AllowAnswer = DashboardPerson | undefined | null | false;

/** The options of `createDashboard`. `Req` is the request of your server: of Express, node:http or Fetch. */
export interface DashboardOptions<Req = never> {
  /**
   * Says who the sender of a request is, by what your login has put on it, and what they may do. Asked for every
   * request. Nobody is let in without it, nor when it throws or rejects, which is logged. @default lets nobody in
   */
  allow?: ((req: Req) => AllowAnswer | PromiseLike<AllowAnswer>) | undefined;
  /**
   * How much of payloads people may see: nothing, what is left without personal data, or, once they unveil an event,
   * all of it; unveiling is logged. @default "redacted"
   */
  payloads?: PayloadAccess | undefined;
  /**
   * Path of the mount, such as "/ops/webhooks", where the server does not cut it off: node:http and most Fetch hosts.
   * Express and Connect do. @default none
   */
  path?: string | undefined;
  /**
   * Origin of the page in the browser, such as "https://ops.example". Requests for another host are refused. Where a
   * proxy changes the host, name that one in `hosts`. @default the host of the request
   */
  origin?: string | undefined;
  /**
   * Hosts that requests may be for, such as "localhost:3000", with the port if the browser shows one. Needed where
   * `allow` lets people in without a login: a page elsewhere may give its own name the address of this server.
   * @default the host of `origin`; without one, any
   */
  hosts?: readonly string[] | undefined;
}

/** The defaults and checks of {@link DashboardOptions}. */
export const DASHBOARD_OPTIONS = defineOptions("createDashboard", {
  allow: callable<(req: never) => AllowAnswer | PromiseLike<AllowAnswer>>(),
  payloads: oneOf(PAYLOAD_ACCESS, { default: "redacted" }),
  path: readBy(checkMountPath),
  origin: readBy(checkOrigin),
  hosts: readBy(checkHosts, { default: [] }),
} satisfies OptionsOf<DashboardOptions>);

function checkOrigin(option: string, origin: string | undefined): string | undefined {
  if (origin === undefined) return undefined;
  const isOrigin = typeof origin === "string" && /^https?:/.test(origin) && URL.canParse(origin);
  if (isOrigin && new URL(origin).origin === origin) return origin;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be an origin such as "https://ops.example", in small letters and without a path.`,
  );
}

function checkHosts(option: string, hosts: readonly string[]): readonly string[] {
  const isList = Array.isArray(hosts) && hosts.every((host) => /^[a-z0-9.:[\]_-]+$/.test(String(host)));
  if (isList) return hosts;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be a list of hosts such as "localhost:3000", in small letters.`,
  );
}

/** Browsers and servers escape other signs, and fold segments of dots. */
const MOUNT_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/;

function checkMountPath(option: string, path: string | undefined): string | undefined {
  if (path === undefined || (typeof path === "string" && MOUNT_PATH.test(path))) return path;
  const why =
    path === "/"
      ? 'must not be "/": leave it out for a dashboard at the root of its server.'
      : 'must be a path such as "/ops/webhooks", without a slash at its end: after each slash ASCII letters, digits and - . _ ~, and neither . nor .. alone.';
  throw new PigeonholeError("invalid_option", `${option} ${why}`);
}
