import type { Receiver } from "pigeonhole";

/** Handlers of an app: `crm` as it is given, one that records a contact event, and one that takes every mail. */
export function registerExampleHandlers(receiver: Receiver, crm: () => void): void {
  receiver.on("email.bounced", crm, { name: "crm" });
  receiver.on(
    "email.opened",
    (_, ctx) => {
      // The service does not know this contact: the contact event ends as dead.
      ctx.contactEvents.record({ name: "email.opened", email: "nobody@customer.example.com" });
    },
    { name: "tracking" },
  );
  receiver.on("email.*", () => undefined, { name: "audit" });
}
