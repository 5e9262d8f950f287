import type { DeliverOnce } from "../delivery/deliver-once.js";
import type { EndpointWithSecret, SandboxEndpoints } from "./sandbox.js";
import type { EndpointRegistry } from "../endpoints/endpoint-registry.js";
import { type Endpoint, endpointBody } from "../endpoints/endpoint.js";

/** The endpoints as the sandbox shows them: copies, so that only the rules change them. */
export function createSandboxEndpoints(registry: EndpointRegistry, deliverOnce: DeliverOnce): SandboxEndpoints {
  return {
    create: (input, options) => withSecret(registry.create(input, options)),
    get: (id) => endpointBody(registry.get(id)),
    list: () => registry.list().map(endpointBody),
    update: (id, input) => endpointBody(registry.update(id, input)),
    delete: (id) => void registry.delete(id),
    rotateSecret: (id, options) => withSecret(registry.rotateSecret(id, options)),
    test: (id) => deliverOnce.test(id),
    replay: (id, rowId) => deliverOnce.replay(id, rowId),
  };
}

function withSecret(endpoint: Endpoint): EndpointWithSecret {
  return { ...endpointBody(endpoint), secret: endpoint.secret };
}
