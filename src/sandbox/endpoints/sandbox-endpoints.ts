import type { DeliverOnce } from "../deliver-once.js";
import type { EndpointWithSecret, SandboxEndpoints } from "../sandbox.js";
import type { EndpointBook } from "./endpoint-book.js";
import { type Endpoint, endpointBody } from "./endpoint.js";

/** The endpoints as the sandbox shows them: copies, so that only the rules change them. */
export function createSandboxEndpoints(book: EndpointBook, deliverOnce: DeliverOnce): SandboxEndpoints {
  return {
    create: (input, options) => withSecret(book.create(input, options)),
    get: (id) => endpointBody(book.get(id)),
    list: () => book.list().map(endpointBody),
    update: (id, input) => endpointBody(book.update(id, input)),
    delete: (id) => void book.delete(id),
    rotateSecret: (id, options) => withSecret(book.rotateSecret(id, options)),
    test: (id) => deliverOnce.test(id),
    replay: (id, rowId) => deliverOnce.replay(id, rowId),
  };
}

function withSecret(endpoint: Endpoint): EndpointWithSecret {
  return { ...endpointBody(endpoint), secret: endpoint.secret };
}
