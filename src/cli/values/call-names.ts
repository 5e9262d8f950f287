import { CONTRACT, listOperations } from "../../contract/contract.js";

/** Names of all calls, such as `contacts.get`, in the order of the contract. */
export const CALL_NAMES: readonly string[] = listOperations().map(({ resource, name }) => `${resource}.${name}`);

/** Names of the resources of the API. */
export const API_RESOURCES: readonly string[] = Object.keys(CONTRACT);
