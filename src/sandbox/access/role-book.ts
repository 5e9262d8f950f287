import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { ROLE_LIMITS } from "../../contract/roles.js";
import type { MakeId } from "../api/make-id.js";
import { Collection } from "../api/collection.js";
import { isoNow } from "../clock/sandbox-time.js";
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
  /** By user name, those too who have not answered their invitation. */
  readonly #holders = new Map<string, { roleId: string; isInvited: boolean }>();

  constructor(options: RoleBookOptions) {
    this.#options = options;
    this.reset();
  }

  /** The roles. The first read of a workspace without any makes those that it begins with. */
  get roles(): Collection<RoleRow> {
    if (this.#roles.rows.length === 0) this.#seed();
    return this.#roles;
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
    const holder = this.#holders.get(member);
    return holder === undefined || holder.isInvited ? undefined : this.roles.find(holder.roleId);
  }

  /** Makes someone a member, or gives a member another role. */
  setMember(name: string, roleId: string): void {
    this.#holders.set(name, { roleId, isInvited: false });
  }

  /** People with the role now. */
  countMembers(roleId: string): number {
    return this.#holdersOf(roleId).filter(({ isInvited }) => !isInvited).length;
  }

  /** True when a member or an invitation has it. */
  isHeld(roleId: string): boolean {
    return this.#holdersOf(roleId).length > 0;
  }

  /** Moves everyone with a role to another one. Returns how many members there were; invitations are not counted. */
  move(from: string, to: string): number {
    const moved = this.countMembers(from);
    for (const holder of this.#holdersOf(from)) holder.roleId = to;
    return moved;
  }

  /** Back to what the options say. */
  reset(): void {
    this.#roles.clear();
    this.#holders.clear();
    for (const { name, role = "Member", invited: isInvited = false } of this.#options.members ?? []) {
      this.#holders.set(name, { roleId: this.named(role, "invalid_option").id, isInvited });
    }
  }

  #holdersOf(roleId: string) {
    return [...this.#holders.values()].filter((holder) => holder.roleId === roleId);
  }

  #seed(): void {
    const { clock, makeId } = this.#options;
    const at = isoNow(clock);
    for (const { builtin, name, permissions } of SEEDED_ROLES) {
      const role = { name, description: null, permissions, builtin, createdAt: at, updatedAt: at };
      // The same id after a reset, since keys and members name it.
      this.#roles.add(role, `role_${makeId.hex(`role ${builtin}`)}`);
    }
  }
}
