import type { ApiAssumption } from "./assumptions.js";

/**
 * Every point about the API that the service's documentation leaves open, what this package assumes, and how to change
 * it. Loads the operations of every resource.
 */
export async function loadApiAssumptions(): Promise<readonly ApiAssumption[]> {
  return (await import("./api-assumptions.js")).API_ASSUMPTIONS;
}
