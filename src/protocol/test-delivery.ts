/** The type of the service's test deliveries; seeds part 1 §4.3 rule 7. */
const TEST_TYPE = "email.sent";

/**
 * Whether this is what `POST /webhooks/{id}/test` sends: an `email.sent` whose data has `test: true`, the row `test_marker` of
 * the assumptions. Of another type it is an event like any other, such as a form with a field of that name.
 */
export function isTestDelivery(type: unknown, data: unknown): boolean {
  return type === TEST_TYPE && typeof data === "object" && data !== null && "test" in data && data.test === true;
}
