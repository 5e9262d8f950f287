import { signal } from "@preact/signals";
import { errorMessage } from "../../../base/error-text.js";
import type { EventDeliveries } from "../../../web/api/event.js";
import { fetchDeliveries } from "../../api/calls.js";

/** The service's attempts for the event of the page; null until they are read. */
export const deliveries = signal<{ id: string; read: EventDeliveries } | null>(null);

/** The event that was asked for last: a late answer does not replace a newer one. */
let wanted = "";

/** Asks once for each event that is opened: the app has to ask the service. */
export async function loadDeliveries(id: string): Promise<void> {
  wanted = id;
  if (deliveries.value?.id !== id) deliveries.value = null;
  if (id === "") return;
  const read = await fetchDeliveries(id).catch((error: unknown): EventDeliveries => ({
    attempts: [],
    note: `Attempts of the service: ${errorMessage(error)}`,
  }));
  if (wanted === id) deliveries.value = { id, read };
}
