import type { Contract } from "./contract.js";
import type { Operation } from "./operation.js";

/** What the client has to know of a row before the row is loaded. */
type IndexEntry<Row> = Row extends Operation
  ? Row extends { paged: true }
    ? { readonly path: Row["path"]; readonly paged: true }
    : { readonly path: Row["path"] }
  : never;

/**
 * The path of every operation, and which ones are lists. The methods of the client are made of it, so that a resource
 * is loaded with its first call. The compiler compares it with the rows.
 */
export const OPERATION_INDEX: {
  readonly [R in keyof Contract]: { readonly [Name in keyof Contract[R]]: IndexEntry<Contract[R][Name]> };
} = {
  chats: {
    list: { path: "/chats", paged: true },
    get: { path: "/chats/{id}" },
    rename: { path: "/chats/{id}" },
    delete: { path: "/chats/{id}" },
  },
  contactEvents: {
    send: { path: "/events" },
    sendBatch: { path: "/events/batch" },
    names: { path: "/events/names" },
    list: { path: "/contacts/{email}/events", paged: true },
  },
  contacts: {
    list: { path: "/contacts", paged: true },
    get: { path: "/contacts/{email}" },
    create: { path: "/contacts" },
    update: { path: "/contacts/{email}" },
    delete: { path: "/contacts/{email}" },
    setAudiences: { path: "/contacts/{email}/audiences" },
    people: { path: "/people", paged: true },
    deleteMany: { path: "/contacts/batch-delete" },
  },
  drafts: {
    list: { path: "/drafts", paged: true },
    get: { path: "/drafts/{id}" },
    create: { path: "/drafts" },
    update: { path: "/drafts/{id}" },
    delete: { path: "/drafts/{id}" },
  },
  files: {
    list: { path: "/files", paged: true },
    get: { path: "/files/{id}" },
    stats: { path: "/files/stats" },
    content: { path: "/files/{id}/content" },
    links: { path: "/files/{id}/links", paged: true },
    createLink: { path: "/files/{id}/links" },
    revokeLink: { path: "/files/{id}/links/{linkId}" },
    revokeLinks: { path: "/files/{id}/links" },
    upload: { path: "/files" },
    delete: { path: "/files/{id}" },
    deleteMany: { path: "/files/batch-delete" },
  },
  forms: {
    list: { path: "/forms", paged: true },
    get: { path: "/forms/{id}" },
    create: { path: "/forms" },
    update: { path: "/forms/{id}" },
    publish: { path: "/forms/{id}/publish" },
    pause: { path: "/forms/{id}/pause" },
    copy: { path: "/forms/{id}/copy" },
    delete: { path: "/forms/{id}" },
    design: { path: "/forms/design" },
    redesign: { path: "/forms/{id}/redesign" },
    starters: { path: "/forms/starters" },
    starter: { path: "/forms/starters/{slug}" },
    subscribe: { path: "/subscribe/{formId}" },
  },
  keys: {
    list: { path: "/keys", paged: true },
    get: { path: "/keys/{id}" },
    create: { path: "/keys" },
    update: { path: "/keys/{id}" },
    rotate: { path: "/keys/{id}/rotate" },
    rotateSelf: { path: "/keys/self/rotate" },
    revoke: { path: "/keys/{id}/revoke" },
    delete: { path: "/keys/{id}" },
    requests: { path: "/keys/requests", paged: true },
    activity: { path: "/keys/activity", paged: true },
  },
  labels: {
    list: { path: "/labels", paged: true },
    get: { path: "/labels/{id}" },
    create: { path: "/labels" },
    update: { path: "/labels/{id}" },
    delete: { path: "/labels/{id}" },
    palette: { path: "/labels/palette" },
  },
  mailboxes: {
    list: { path: "/connected-mailboxes" },
    get: { path: "/connected-mailboxes/{id}" },
    discover: { path: "/connected-mailboxes/discover" },
    connect: { path: "/connected-mailboxes" },
    update: { path: "/connected-mailboxes/{id}" },
    sync: { path: "/connected-mailboxes/{id}/sync" },
    disconnect: { path: "/connected-mailboxes/{id}" },
  },
  roles: {
    list: { path: "/roles", paged: true },
    get: { path: "/roles/{id}" },
    create: { path: "/roles" },
    update: { path: "/roles/{id}" },
    delete: { path: "/roles/{id}" },
    permissions: { path: "/roles/permissions" },
  },
  sending: {
    streams: { path: "/sending/streams" },
    resume: { path: "/sending/streams/{stream}/resume" },
    dedicatedIps: { path: "/sending/dedicated-ips" },
    dedicatedIp: { path: "/sending/dedicated-ips/{ip}" },
  },
  signatures: {
    list: { path: "/signatures", paged: true },
    get: { path: "/signatures/{id}" },
    create: { path: "/signatures" },
    update: { path: "/signatures/{id}" },
    delete: { path: "/signatures/{id}" },
    copy: { path: "/signatures/{id}/copy" },
  },
  tools: {
    dmarc: { path: "/tools/dmarc" },
    bimi: { path: "/tools/bimi" },
    deliverability: { path: "/tools/deliverability" },
  },
  webhooks: {
    list: { path: "/webhooks", paged: true },
    get: { path: "/webhooks/{id}" },
    create: { path: "/webhooks" },
    update: { path: "/webhooks/{id}" },
    delete: { path: "/webhooks/{id}" },
    test: { path: "/webhooks/{id}/test" },
    rotateSecret: { path: "/webhooks/{id}/rotate-secret" },
    deliveries: { path: "/webhooks/{id}/deliveries", paged: true },
    delivery: { path: "/webhooks/{id}/deliveries/{deliveryId}" },
    replay: { path: "/webhooks/{id}/deliveries/{deliveryId}/replay" },
    allDeliveries: { path: "/webhooks/deliveries", paged: true },
    activity: { path: "/webhooks/activity", paged: true },
    eventTypes: { path: "/webhooks/events" },
    stats: { path: "/webhooks/stats" },
  },
};
