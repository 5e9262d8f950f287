/** Every operation whose path the service's documentation shows: each path with its methods. */
export const DOCUMENTED_OPERATIONS: readonly string[] = `
  /keys GET POST
  /keys/requests GET
  /keys/activity GET
  /keys/{id} GET PATCH DELETE
  /keys/{id}/rotate POST
  /keys/self/rotate POST
  /roles GET POST
  /roles/{id} GET PATCH DELETE
  /roles/permissions GET
  /webhooks GET POST
  /webhooks/{id} GET PATCH DELETE
  /webhooks/{id}/test POST
  /events POST
  /events/batch POST
  /events/names GET
  /contacts/{email}/events GET
  /sending/streams GET
  /sending/streams/{stream}/resume POST
  /sending/dedicated-ips GET
  /sending/dedicated-ips/{ip} GET
  /tools/dmarc GET
  /tools/bimi GET
  /tools/deliverability GET
  /connected-mailboxes/{id} DELETE
  /signatures GET POST
  /signatures/{id} GET PATCH DELETE
  /signatures/{id}/copy POST
  /forms GET POST
  /forms/design POST
  /forms/{id}/redesign POST
  /forms/starters GET
  /forms/starters/{slug} GET
  /forms/{id} GET
  /subscribe/{formId} POST
  /contacts GET POST
  /contacts/{email} GET PATCH DELETE
  /contacts/{email}/audiences PUT
  /chats GET
  /chats/{id} GET PATCH DELETE
  /labels GET POST
  /labels/{id} GET PATCH DELETE
  /drafts GET POST
  /drafts/{id} GET PATCH DELETE
  /files GET POST
  /files/{id} GET DELETE
  /files/stats GET
  /files/{id}/content GET
  /files/{id}/links GET POST DELETE
  /files/{id}/links/{linkId} DELETE
  /files/batch-delete POST
`
  .trim()
  .split(/\n\s*/)
  .map((line) => line.split(" "))
  .flatMap(([path = "", ...methods]) => methods.map((method) => `${method} ${path}`));

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
