import { PigeonholeError } from "../../base/error.js";
import type { Contract } from "../../contract/contract.js";
import type { ApiHandlers } from "../api/api-handlers.js";
import { createChats } from "./chats.js";
import { createContacts } from "./contacts.js";
import { createDrafts } from "./drafts.js";
import { createFiles } from "./files.js";
import { createForms } from "./forms.js";
import { createKeys } from "./keys.js";
import { createLabels } from "./labels.js";
import { createMailboxes } from "./mailboxes.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { createRoles } from "./roles.js";
import { createSending } from "./sending.js";
import { createSignatures } from "./signatures.js";
import { createTools } from "./tools.js";

/** The resources whose state is in a folder of their own. */
type OwnState = "contactEvents" | "webhooks";

/** Name of a resource whose rows the sandbox shows. */
export type ResourceName = Exclude<keyof Contract, OwnState>;

/** The resources of a workspace by name. */
export type SandboxResources = { readonly [Name in ResourceName]: SandboxResource<Name> };

/** How each resource is made. The compiler reports a missing line for a new resource of the contract. */
const RESOURCES: { readonly [Name in ResourceName]: (workspace: Workspace) => SandboxResource<Name> } = {
  chats: createChats,
  contacts: createContacts,
  drafts: createDrafts,
  files: createFiles,
  forms: createForms,
  keys: createKeys,
  labels: createLabels,
  mailboxes: createMailboxes,
  roles: createRoles,
  sending: createSending,
  signatures: createSignatures,
  tools: createTools,
};

/** The names of the resources, in order. */
export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly ResourceName[];

/** The handlers of every resource. */
export function handlersOf(resources: SandboxResources): Pick<ApiHandlers, ResourceName> {
  const handlers = RESOURCE_NAMES.map((name) => [name, resources[name].handlers] as const);
  return Object.fromEntries(handlers) as unknown as Pick<ApiHandlers, ResourceName>;
}

/** Every row of a resource. Throws `invalid_argument` for a resource that is not in the table. */
export function rowsOf(resources: SandboxResources, name: ResourceName): readonly object[] {
  if (Object.hasOwn(resources, name)) return resources[name].rows();
  throw new PigeonholeError("invalid_argument", `The sandbox has rows of ${RESOURCE_NAMES.join(", ")}.`);
}

/** Every resource, as the options say. */
export function createResources(workspace: Workspace): SandboxResources {
  const made = RESOURCE_NAMES.map((name) => {
    const resource = RESOURCES[name](workspace);
    resource.reset();
    return [name, resource] as const;
  });
  // The names and their makers are of one table.
  return Object.fromEntries(made) as unknown as SandboxResources;
}
