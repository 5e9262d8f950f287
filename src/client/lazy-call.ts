import { allowLocalUrls, bindOperation } from "../contract/bind-operation.js";
import type { BoundPath } from "../contract/bind-paths.js";
import { findResource, loadResource } from "../contract/load-resource.js";
import type { Resource } from "../contract/operation.js";
import { copyPlain } from "./copy-plain.js";
import { makeCall } from "./make-call.js";
import type { ResolvedClient } from "./options.js";
import type { PagePromise } from "./page-promise.js";

/** The function of a client for an operation whose resource is loaded with its first call. */
export function lazyCall(bound: BoundPath, resolved: ResolvedClient): (...args: unknown[]) => unknown {
  const callWith = (rows: Resource, args: readonly unknown[]): unknown => {
    const row = bindOperation(bound, rows);
    // The documented rule keeps the service off private networks. An emulator's receivers are on this machine.
    return makeCall(resolved.isLocal ? allowLocalUrls(row) : row, resolved)(...args);
  };
  return (...args) => {
    const rows = findResource(bound.resource);
    if (rows !== undefined) return callWith(rows, args);
    // The caller may change its objects while the resource is loaded.
    const copies = args.map((arg) => copyPlain(arg));
    // In an object, since a promise of a list would be resolved with its first page.
    const started = loadResource(bound.resource).then((loaded) => ({ answer: callWith(loaded, copies) }));
    const first = started.then(({ answer }) => answer);
    return bound.paged ? Object.assign(first, { [Symbol.asyncIterator]: () => walk(first, started) }) : first;
  };
}

async function* walk(first: Promise<unknown>, started: Promise<{ answer: unknown }>): AsyncGenerator<unknown, void> {
  await first;
  const { answer } = await started;
  yield* answer as PagePromise<unknown>;
}
