// Apart from the envelope, whose schema the dev server's page must not load: zod needs eval, which the page forbids.

/** The type of the service's test deliveries. See docs/service.md#test-deliveries. */
const TEST_TYPE = "email.sent";

/**
 * Whether this is what `POST /webhooks/{id}/test` sends: an `email.sent` whose data has `test: true`, the row
 * `test_marker` of the assumptions. Of another type it is an event like any other, such as a form with a field of that
 * name.
 */
export function isTestDelivery(type: unknown, data: unknown): boolean {
  return type === TEST_TYPE && typeof data === "object" && data !== null && "test" in data && data.test === true;
}
