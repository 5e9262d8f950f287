/** What the id of an endpoint is. See docs/service.md#identifiers. */
export const ENDPOINT_ID = /^whe_[0-9a-f]{24}$/;
