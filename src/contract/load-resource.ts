import type { Contract } from "./contract.js";
import type { Resource } from "./operation.js";

const LOADERS: { readonly [R in keyof Contract]: () => Promise<Contract[R]> } = {
  chats: async () => (await import("./chats.js")).chats,
  contactEvents: async () => (await import("./contact-events.js")).contactEvents,
  contacts: async () => (await import("./contacts.js")).contacts,
  drafts: async () => (await import("./drafts.js")).drafts,
  files: async () => (await import("./files.js")).files,
  forms: async () => (await import("./forms.js")).forms,
  keys: async () => (await import("./keys.js")).keys,
  labels: async () => (await import("./labels.js")).labels,
  mailboxes: async () => (await import("./mailboxes.js")).mailboxes,
  roles: async () => (await import("./roles.js")).roles,
  sending: async () => (await import("./sending.js")).sending,
  signatures: async () => (await import("./signatures.js")).signatures,
  tools: async () => (await import("./tools.js")).tools,
  webhooks: async () => (await import("./webhooks.js")).webhooks,
};

/** One for the process, since modules are. */
const loaded = new Map<keyof Contract, Resource>();

/** The rows of a resource that was loaded before. */
export function findResource(name: keyof Contract): Resource | undefined {
  return loaded.get(name);
}

/** Loads the rows of a resource with their schemas. */
export async function loadResource(name: keyof Contract): Promise<Resource> {
  const rows = await LOADERS[name]();
  loaded.set(name, rows);
  return rows;
}
