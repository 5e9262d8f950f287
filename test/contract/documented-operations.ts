/** Every operation whose path the service's documentation shows, as method and path. */
export const DOCUMENTED_OPERATIONS: readonly string[] = `
  GET /keys
  POST /keys
  GET /keys/requests
  GET /keys/activity
  GET /keys/{id}
  PATCH /keys/{id}
  DELETE /keys/{id}
  POST /keys/{id}/rotate
  POST /keys/self/rotate
  GET /roles
  GET /roles/{id}
  POST /roles
  PATCH /roles/{id}
  DELETE /roles/{id}
  GET /roles/permissions
  GET /webhooks
  GET /webhooks/{id}
  POST /webhooks
  PATCH /webhooks/{id}
  DELETE /webhooks/{id}
  POST /webhooks/{id}/test
  POST /events
  POST /events/batch
  GET /events/names
  GET /contacts/{email}/events
  GET /sending/streams
  POST /sending/streams/{stream}/resume
  GET /sending/dedicated-ips
  GET /sending/dedicated-ips/{ip}
  GET /tools/dmarc
  GET /tools/bimi
  GET /tools/deliverability
  DELETE /connected-mailboxes/{id}
  GET /signatures
  GET /signatures/{id}
  POST /signatures
  PATCH /signatures/{id}
  DELETE /signatures/{id}
  POST /signatures/{id}/copy
  GET /forms
  POST /forms
  POST /forms/design
  POST /forms/{id}/redesign
  GET /forms/starters
  GET /forms/starters/{slug}
  GET /forms/{id}
  POST /subscribe/{formId}
  GET /contacts
  GET /contacts/{email}
  POST /contacts
  PATCH /contacts/{email}
  DELETE /contacts/{email}
  PUT /contacts/{email}/audiences
  GET /chats
  GET /chats/{id}
  PATCH /chats/{id}
  DELETE /chats/{id}
  GET /labels
  GET /labels/{id}
  POST /labels
  PATCH /labels/{id}
  DELETE /labels/{id}
  GET /drafts
  GET /drafts/{id}
  POST /drafts
  PATCH /drafts/{id}
  DELETE /drafts/{id}
  GET /files
  GET /files/{id}
  GET /files/stats
  GET /files/{id}/content
  GET /files/{id}/links
  POST /files/{id}/links
  DELETE /files/{id}/links/{linkId}
  DELETE /files/{id}/links
  POST /files
  DELETE /files/{id}
  POST /files/batch-delete
`
  .trim()
  .split(/\n\s*/);

/**
 * Every operation that the service's documentation names without its path: its words, and the call that stands for it;
 * null where it shows no shape either, so that there is no call.
 */
export const NAMED_OPERATIONS: readonly (readonly [words: string, call: string | null])[] = [
  ["revoke an API key", "keys.revoke"],
  ["rotate the secret of an endpoint", "webhooks.rotateSecret"],
  ["list deliveries", "webhooks.deliveries"],
  ["read a delivery", "webhooks.delivery"],
  ["replay a delivery", "webhooks.replay"],
  ["list workspace-wide deliveries", "webhooks.allDeliveries"],
  ["list the activity of endpoints", "webhooks.activity"],
  ["list the types of events", "webhooks.eventTypes"],
  ["statistics of deliveries", "webhooks.stats"],
  ["list connected mailboxes", "mailboxes.list"],
  ["read a connected mailbox", "mailboxes.get"],
  ["discover the servers of a mailbox", "mailboxes.discover"],
  ["connect a mailbox", "mailboxes.connect"],
  ["update a connected mailbox", "mailboxes.update"],
  ["sync a connected mailbox", "mailboxes.sync"],
  ["update a form", "forms.update"],
  ["publish a form", "forms.publish"],
  ["pause a form", "forms.pause"],
  ["copy a form", "forms.copy"],
  ["delete a form", "forms.delete"],
  ["read the analytics of a form", null],
  ["list people", "contacts.people"],
  ["delete contacts in bulk", "contacts.deleteMany"],
  ["read the palette of labels", "labels.palette"],
];
