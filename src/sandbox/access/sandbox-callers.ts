import { MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import {
  type Option,
  type OptionsOf,
  type Resolved,
  defineOptions,
  flag,
  oneOf,
  readBy,
  wholeNumber,
} from "../../base/options.js";
import { KEY_LIMITS } from "../../contract/keys.js";
import { emailAddress } from "../../contract/shapes.js";
import { ALL_SCOPES, type CallerRights, checkName, isScope } from "./api-key.js";
import type { ApiKeyRegistry } from "./api-key-registry.js";
import { checkTexts } from "../../base/option-check.js";
import { normalizeAllowlists } from "./allowlists.js";
import type { MakeId } from "../api/make-id.js";
import { isDomain } from "../api/addresses.js";
import type { RoleBook } from "./role-book.js";

/** What an app that the owner connected may do. */
export interface OwnerCaller extends CallerRights {
  /** True: the owner has verified a code in the app. @default false */
  verified?: boolean | undefined;
}

/** What an app that a member connected may do. */
export interface MemberCaller extends OwnerCaller {
  /** The member's user name. @default "grace" */
  name?: string | undefined;
  /** Name or id of a role, which the member gets and which caps the app. @default the one that it has, or "Member" */
  role?: string | undefined;
}

/** What an API key may do. It need not lie in the reach of another one. */
export interface KeyCaller extends CallerRights {
  /** 1 to 60 characters. @default "Test caller" */
  name?: string | undefined;
  /** Events stored with a test key start nothing. @default "live" */
  mode?: "live" | "test" | undefined;
  /** Name or id of the role that caps the key. @default none */
  role?: string | undefined;
  /** When it expires, on the sandbox's clock. @default never */
  expiresInMinutes?: number | undefined;
}

/**
 * Makes callers of the API for a test, each with one call. What they return is a token, for the option `apiKey` of
 * createClient. A reset of the sandbox forgets them. Wrong options throw `invalid_option` or `invalid_argument`.
 */
export interface SandboxCallers {
  /** An access token of an app that the owner connected. */
  owner(options?: OwnerCaller): string;
  /** An access token of an app that a member connected. Makes the member if there is none of this name. */
  member(options?: MemberCaller): string;
  /** A new API key, which acts for the owner. */
  key(options?: KeyCaller): string;
}

const OF_EVERY_CALLER = {
  scopes: listOf("scopes", isScope, ALL_SCOPES),
  addressAllowlist: listOf("single addresses", isSingleAddress, []),
  domainAllowlist: listOf("domains", isDomain, []),
};

/** The defaults and checks of {@link OwnerCaller}. */
export const OWNER_CALLER_OPTIONS = defineOptions("sandbox.callers.owner", {
  ...OF_EVERY_CALLER,
  verified: flag({ default: false }),
} satisfies OptionsOf<OwnerCaller>);

/** The defaults and checks of {@link MemberCaller}. */
export const MEMBER_CALLER_OPTIONS = defineOptions("sandbox.callers.member", {
  ...OF_EVERY_CALLER,
  verified: flag({ default: false }),
  name: readBy(checkName, { default: "grace" }),
  role: readBy(checkRole),
} satisfies OptionsOf<MemberCaller>);

/** The defaults and checks of {@link KeyCaller}. */
export const KEY_CALLER_OPTIONS = defineOptions("sandbox.callers.key", {
  ...OF_EVERY_CALLER,
  name: readBy(checkName, { default: "Test caller" }),
  mode: oneOf(["live", "test"], { default: "live" }),
  role: readBy(checkRole),
  expiresInMinutes: wholeNumber({ min: KEY_LIMITS.minExpiryMinutes, max: KEY_LIMITS.maxExpiryMinutes }),
} satisfies OptionsOf<KeyCaller>);

interface CallersInput {
  keys: ApiKeyRegistry;
  roles: RoleBook;
  makeId: MakeId;
  now: () => number;
}

export function createSandboxCallers({ keys, roles, makeId, now }: CallersInput): SandboxCallers {
  let apps = 0;
  const addApp = (member: string | undefined, rights: Resolved<typeof OWNER_CALLER_OPTIONS>): string => {
    const { verified: isVerified, scopes, ...lists } = rights;
    apps += 1;
    const token = `svc_app_${makeId.hex(`app ${apps}`)}${makeId.hex(`app secret ${apps}`)}`;
    keys.addApp(token, { member, isVerified, scopes, ...normalizeAllowlists(lists) });
    return token;
  };
  return {
    owner: (options = {}) => addApp(undefined, OWNER_CALLER_OPTIONS.resolve(options)),
    member(options = {}) {
      const { name, role, ...rights } = MEMBER_CALLER_OPTIONS.resolve(options);
      if (role !== undefined || roles.roleOf(name) === undefined) {
        roles.setMember(name, memberRole(roles, role ?? "Member"));
      }
      return addApp(name, rights);
    },
    key(options = {}) {
      const { name, mode, role, scopes, expiresInMinutes, ...lists } = KEY_CALLER_OPTIONS.resolve(options);
      const roleId = role === undefined ? null : roles.named(role).id;
      const expiresAtMs = expiresInMinutes === undefined ? null : now() + expiresInMinutes * MINUTE;
      const reach = { scopes, roleId, expiresAtMs, mode, ...normalizeAllowlists(lists) };
      return keys.make({ name, ...reach }, undefined).token;
    },
  };
}

/** The id of a role that a member can have. */
function memberRole(roles: RoleBook, reference: string): string {
  const { id, builtin } = roles.named(reference);
  if (builtin !== "owner") return id;
  throw new PigeonholeError("invalid_argument", "A member cannot have the owner's role; use sandbox.callers.owner().");
}

/** A list of which each entry is checked; null is none. */
function listOf(
  what: string,
  isOne: (entry: string) => boolean,
  byDefault: readonly string[],
): Option<readonly string[], readonly string[]> {
  return {
    default: byDefault,
    read(option, list = byDefault) {
      if (checkTexts(option, list).every(isOne)) return list;
      throw new PigeonholeError("invalid_option", `${option} must be a list of ${what}.`);
    },
  };
}

function isSingleAddress(text: string): boolean {
  return !text.startsWith("*@") && emailAddress().safeParse(text).success;
}

function checkRole(option: string, role: string | undefined): string | undefined {
  if (role === undefined || typeof role === "string") return role;
  throw new PigeonholeError("invalid_option", `${option} must be the name or the id of a role.`);
}
