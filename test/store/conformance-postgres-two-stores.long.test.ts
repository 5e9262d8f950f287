import { isPigeonholeError } from "#pigeonhole/base/error.js";
import type { Store } from "#pigeonhole/store/store.js";
import type { PostgresTransaction } from "#pigeonhole/store/postgres/postgres-transaction.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { describeStore } from "./conformance.js";
import type { StoreKind } from "./conformance/fixture.js";
import { postgresKind } from "./postgres-kind.js";

/** Two stores on the same data as one, of which each call goes to the next one. Both are opened and closed. */
function inTurn(first: Store<unknown>, second: Store<unknown>): Store<unknown> {
  const both = [first, second] as const;
  let turn = 0;
  const next = (): Store<unknown> => both[(turn = 1 - turn)] ?? first;
  let pruning: Store<unknown> | undefined;
  const ofBoth: Partial<Store<unknown>> = {
    async open(context) {
      for (const store of both) await store.open(context);
    },
    async close() {
      for (const store of both) await store.close();
    },
    // From its first call on, a store has work.
    async recover(now) {
      const [of, ofOther] = [await first.recover(now), await second.recover(now)];
      return {
        owner: of.owner && ofOther.owner,
        recovered: of.recovered + ofOther.recovered,
        parked: of.parked + ofOther.parked,
      };
    },
    // A round of retention is that of one store.
    async prune(limits) {
      const seen = await (pruning ??= next()).prune(limits);
      if (seen === 0) pruning = undefined;
      return seen;
    },
    // Again while the other store holds the row, as a receiver does.
    async settle(settlement) {
      const store = next();
      for (;;) {
        try {
          return await store.settle(settlement);
        } catch (error) {
          if (!isPigeonholeError(error, "store_busy")) throw error;
        }
      }
    },
  };
  return new Proxy(first, {
    get(_, name) {
      if (Object.hasOwn(ofBoth, name)) return Reflect.get(ofBoth, name);
      if (typeof Reflect.get(first, name) !== "function") return Reflect.get(first, name);
      return (...args: unknown[]): unknown => {
        const store = next();
        return Reflect.apply(Reflect.get(store, name) as (...args: unknown[]) => unknown, store, args);
      };
    },
  });
}

function twoStores(kind: StoreKind<PostgresTransaction>): StoreKind<PostgresTransaction> {
  return {
    ...kind,
    name: "PostgreSQL, by two stores in turn",
    async create() {
      const one = await kind.create();
      const another = one.another;
      if (another === undefined) return one;
      return { ...one, store: inTurn(one.store, another()), another: () => inTurn(another(), another()) };
    },
  };
}

describeOnPostgres((database) => describeStore(twoStores(postgresKind(database))));
