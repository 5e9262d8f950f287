import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { ROLE_LIMITS } from "../../contract/roles.js";
import type { MakeId } from "../api/make-id.js";
import { Collection } from "../api/collection.js";
import { SEEDED_ROLES } from "./permissions.js";

/** A member of the workspace to begin with. The owner is there without one. */
export interface MemberInput {
  /** The user name, which access tokens and activities name. */
  name: string;
  /** Name of a role that every workspace begins with, such as `Viewer`. @default "Member" */
  role?: string | undefined;
  /** True: the invitation is not answered yet, and holds the role. @default false */
  invited?: boolean | undefined;
}

/** What is stored of a role. Its permissions are in canonical order, with what they imply. */
export interface RoleRow extends Omit<RoleFields, "permissions" | "editable" | "deletable" | "members" | "apiKeys"> {
  permissions: readonly string[];
}
type RoleFields = ResultFields<Contract["roles"]["get"]>;

interface RoleBookOptions {
  clock: Clock;
  makeId: MakeId;
  members?: readonly MemberInput[];
}

/** The roles of the workspace, and who holds them beside API keys. See docs/service.md#roles. */
export class RoleBook {
  readonly #options: RoleBookOptions;
  readonly #roles = new Collection<RoleRow>({
    kind: "role",
    missing: { code: "role_not_found", param: "roleId" },
    limit: {
      max: ROLE_LIMITS.customPerWorkspace,
      // Those that every workspace begins with do not count.
      groupOf: ({ builtin }) => builtin ?? "custom",
      code: "role_limit_reached",
    },
    unique: { keyOf: ({ name }) => name.toLowerCase(), code: "role_name_taken", param: "name" },
    idOf: (_, sequence) => `role_${this.#options.makeId.hex(`role ${sequence}`)}`,
  });
  /** Role ids by user name. */
  readonly #members = new Map<string, string>();
  /** Role ids of those who have not answered, by name. */
  readonly #invitations = new Map<string, string>();

  constructor(options: RoleBookOptions) {
    this.#options = options;
    this.reset();
  }

  /** The roles. The first read of a workspace without any makes those that it begins with. */
  get roles(): Collection<RoleRow> {
    if (this.#roles.rows.length === 0) this.#seed();
    return this.#roles;
  }

  /** Undefined for none. */
  find(id: string): RoleRow | undefined {
    return this.roles.find(id);
  }

  /** By id, or by name in any case. Throws `invalid_argument`, or the code that is given. */
  named(reference: string, code: "invalid_argument" | "invalid_option" = "invalid_argument"): RoleRow {
    const name = reference.toLowerCase();
    const role = this.roles.rows.find((row) => row.id === reference || row.name.toLowerCase() === name);
    if (role !== undefined) return role;
    const names = this.roles.rows.map((row) => row.name).join(", ");
    throw new PigeonholeError(code, `The sandbox has no role ${reference}; it has ${names}.`);
  }

  /** What the role of a member allows; undefined for someone without one. */
  roleOf(member: string): RoleRow | undefined {
    const id = this.#members.get(member);
    return id === undefined ? undefined : this.find(id);
  }

  /** Makes someone a member, or gives a member another role. */
  setMember(name: string, roleId: string): void {
    this.#members.set(name, roleId);
  }

  /** People with the role now. */
  countMembers(roleId: string): number {
    return countValues(this.#members, roleId);
  }

  /** True when a member or an invitation has it. */
  isHeld(roleId: string): boolean {
    return this.countMembers(roleId) + countValues(this.#invitations, roleId) > 0;
  }

  /** Moves everyone with a role to another one. Returns how many members there were; invitations are not counted. */
  move(from: string, to: string): number {
    const moved = this.countMembers(from);
    for (const holders of [this.#members, this.#invitations]) {
      for (const [name, roleId] of holders) if (roleId === from) holders.set(name, to);
    }
    return moved;
  }

  /** Back to what the options say. */
  reset(): void {
    this.#roles.clear();
    this.#members.clear();
    this.#invitations.clear();
    for (const { name, role = "Member", invited = false } of this.#options.members ?? []) {
      (invited ? this.#invitations : this.#members).set(name, this.named(role, "invalid_option").id);
    }
  }

  #seed(): void {
    const { clock, makeId } = this.#options;
    const at = new Date(clock.now()).toISOString();
    for (const { builtin, name, permissions } of SEEDED_ROLES) {
      const role = { name, description: null, permissions, builtin, createdAt: at, updatedAt: at };
      // The same id after a reset, since keys and members name it.
      this.#roles.add(role, `role_${makeId.hex(`role ${builtin}`)}`);
    }
  }
}

function countValues(map: ReadonlyMap<string, string>, value: string): number {
  return [...map.values()].filter((one) => one === value).length;
}
