import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  type AnyEvent,
  type BatchContext,
  type CommitFunction,
  type CommitTransaction,
  type EventData,
  type EventPattern,
  type EventType,
  type HandlerContext,
  type KnownEvent,
  type Receiver,
  type Store,
  type UnknownEvent,
  createReceiver,
  createSqliteStore,
} from "pigeonhole";
import { type PostgresTransaction, createPostgresStore } from "pigeonhole/postgres";
import { silentLogger as silent } from "#pigeonhole/base/logger.js";
import { TEST_SECRET, createTestReceiver } from "pigeonhole/testing";

const schemas = {
  "email.bounced": z.object({ recipient: z.string(), at: z.string().transform((text) => new Date(text)) }),
  "email.opened": z.object({ ip: z.string() }),
  "invoice.paid": z.object({ cents: z.number() }),
};
const make = () => createTestReceiver({ schemas });

interface Bounce {
  recipient: string;
  at: Date;
}

describe("the type of a handler's event", () => {
  test("a handler's event has the schema's output if there is a schema", () => {
    make().on("email.bounced", (event, ctx) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.bounced", Bounce>>();
      expectTypeOf(event.data.at).toEqualTypeOf<Date>();
      expectTypeOf(event.known).toEqualTypeOf<true>();
      expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
    });
  });

  test("a handler's event has unknown fields if there is no schema", () => {
    make().on("email.sent", (event) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.sent", EventData>>();
      expectTypeOf(event.data["anything"]).toEqualTypeOf<unknown>();
    });
    createTestReceiver().on("email.bounced", (event) => {
      expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
  });

  test("a handler's event of several types is a union, which the type distinguishes", () => {
    make().on(["email.bounced", "email.opened", "email.sent"], (event) => {
      expectTypeOf(event.type).toEqualTypeOf<"email.bounced" | "email.opened" | "email.sent">();
      if (event.type === "email.bounced") expectTypeOf(event.data).toEqualTypeOf<Bounce>();
      else if (event.type === "email.opened") expectTypeOf(event.data).toEqualTypeOf<{ ip: string }>();
      else expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
  });

  test("a handler's event of a group has every type of it, and unknown ones", () => {
    make().on("email.*", (event) => {
      if (!event.known) {
        expectTypeOf(event).toExtend<UnknownEvent>();
        expectTypeOf(event.data).toEqualTypeOf<EventData>();
        return;
      }
      expectTypeOf(event.type).toEqualTypeOf<Extract<EventType, `email.${string}`>>();
      if (event.type === "email.bounced") expectTypeOf(event.data).toEqualTypeOf<Bounce>();
      if (event.type === "email.clicked") expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
    make().on("invoice.*", (event) => {
      if (event.known) expectTypeOf(event).toEqualTypeOf<KnownEvent<"invoice.paid", { cents: number }>>();
    });
  });

  test("a handler's event of a star has every type, narrowed by known and then by type", () => {
    make().on("*", (event) => {
      expectTypeOf(event.id).toEqualTypeOf<string>();
      expectTypeOf(event.test).toEqualTypeOf<boolean>();
      if (!event.known) return expectTypeOf(event.type).toExtend<string>();
      expectTypeOf(event.type).toEqualTypeOf<EventType | "invoice.paid">();
      if (event.type === "email.bounced") return expectTypeOf(event.data).toEqualTypeOf<Bounce>();
      if (event.type === "invoice.paid") return expectTypeOf(event.data).toEqualTypeOf<{ cents: number }>();
      return event.type === "email.opened" || expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
  });

  test("a handler's event is narrowed by type alone in a group and in a star", () => {
    for (const pattern of ["email.*", "*"] as const) {
      make().on(pattern, (event) => {
        if (event.type === "email.bounced") {
          expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.bounced", Bounce>>();
          return;
        }
        // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the default is what is looked at
        switch (event.type) {
          case "email.opened":
            return expectTypeOf(event.data).toEqualTypeOf<{ ip: string }>();
          case "email.sent":
            return expectTypeOf(event.data).toEqualTypeOf<EventData>();
          default:
            expectTypeOf(event.type).toExtend<string>();
            return expectTypeOf(event.known).toEqualTypeOf<boolean>();
        }
      });
    }
    make().on("email.*", ({ type, data }) => {
      if (type === "email.bounced") expectTypeOf(data).toEqualTypeOf<Bounce>();
    });
    make().on("email.*", (event) => {
      if (event.type !== "email.bounced") return;
      expectTypeOf(event.data.at).toEqualTypeOf<Date>();
    });
  });

  test("a handler's event of a group cannot be compared with a name that does not exist", () => {
    make().on("email.*", (event) => {
      // @ts-expect-error -- misspelt
      if (event.type === "email.bounce") return true;
      // @ts-expect-error -- of another group
      return event.type === "invoice.paid";
    });
  });

  test("a function that takes any event fits as a handler", () => {
    const audit = (event: AnyEvent): string => event.type;
    make().on("email.*", (event) => audit(event));
    make().on("*", audit);
  });

  test("the event of onUnhandled has any type", () => {
    make().onUnhandled((event) => expectTypeOf(event).toEqualTypeOf<AnyEvent>());
  });

  test("the function key gets the same type of event as the handler", () => {
    make().on("email.bounced", () => undefined, {
      key(event) {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.bounced", Bounce>>();
        return event.data.recipient;
      },
    });
  });

  test("only the data of a handler's event can be changed", () => {
    make().on("email.bounced", (event) => {
      // @ts-expect-error -- read-only
      event.id = "evt_other";
      event.data.recipient = "ok";
    });
  });
});

test("a type that the service does not have is refused by the compiler and at run time", () => {
  const refused = (register: () => unknown): void => expect(register).toThrow("not an event type");
  const nothing = (): void => undefined;
  // @ts-expect-error -- misspelt
  refused(() => make().on("email.bounce", nothing));
  // @ts-expect-error -- misspelt
  refused(() => make().on(["email.sent", "email.bounce"], nothing));
  // @ts-expect-error -- a group that does not exist
  refused(() => make().on("mail.*", nothing));
  // @ts-expect-error -- in another case
  refused(() => make().on("Email.Sent", nothing));
  // @ts-expect-error -- has no entry in these schemas
  refused(() => createTestReceiver().on("invoice.paid", nothing));
  // @ts-expect-error -- stars stand for whole parts
  refused(() => make().on("email.bo*", nothing));
});

describe("options that do not exist", () => {
  test("an unknown handler option is refused by the compiler and the receiver, and a key that is no text by the compiler", () => {
    // @ts-expect-error -- misspelt
    expect(() => make().on("email.sent", () => undefined, { concurency: 1 })).toThrow(
      'handler "email.sent" has no option "concurency". Its options: concurrency, key, name,',
    );
    // @ts-expect-error -- misspelt
    expect(() => make().on("email.sent", () => undefined, { retry: { attempts: 1 } })).toThrow(
      'handler "email.sent": retry has no option "attempts"',
    );
    // @ts-expect-error -- a number
    make().on("email.sent", () => undefined, { name: "other", key: () => 5 });
  });

  test("a receiver without secrets, or with unknown options, is refused by the compiler and at run time", () => {
    // @ts-expect-error -- no secrets
    expect(() => createReceiver({})).toThrow("secrets");
    // @ts-expect-error -- a secret of a source is a text or a list
    expect(() => createReceiver({ secrets: { acme: 5 }, store: ":memory:" })).toThrow("secrets");
    // @ts-expect-error -- misspelt
    expect(() => createReceiver({ secrets: TEST_SECRET, store: ":memory:", tolerance: 5 })).toThrow("no option");
    // @ts-expect-error -- misspelt
    expect(() => createReceiver({ secrets: TEST_SECRET, retention: { days: 5 } })).toThrow(
      'retention has no option "days". Its options: bodiesMs, idsMs.',
    );
    // @ts-expect-error -- nothing at all
    expect(() => createReceiver()).toThrow("createReceiver takes an object with options, got undefined.");
  });
});

test("the types of the context match what its functions give", () => {
  expectTypeOf<ReturnType<HandlerContext["commit"]>>().toEqualTypeOf<Promise<void>>();
  expectTypeOf<ReturnType<HandlerContext["step"]>>().toEqualTypeOf<Promise<unknown>>();
  createTestReceiver().on("email.sent", async (_, ctx) => {
    expectTypeOf(await ctx.step("n", () => 5)).toEqualTypeOf<number>();
    expectTypeOf(await ctx.step("p", () => Promise.resolve({ a: 1 }))).toEqualTypeOf<{ a: number }>();
  });
});

describe("the function given to ctx.commit", () => {
  test("the function of ctx.commit may return nothing, or any value but a promise or a generator", () => {
    make().on("email.sent", async (_, { commit }) => {
      const statement = (): unknown => 1;
      await commit(() => undefined);
      await commit(({ db }) => void db);
      await commit(({ db }) => db.prepare("DELETE FROM people").run());
      await commit(({ db }) => db.prepare("SELECT 1").get());
      await commit(({ db }) => db.pragma("table_info(people)"));
      await commit(() => statement());
      await commit(() => null);
      await commit((): number | undefined => 1);
      await commit(() => [1, "two", { three: 3n }]);
      await commit(() => {
        throw new Error("taken back");
      });
      const named: CommitFunction = ({ db }) => db.prepare("DELETE FROM people").run();
      await commit(named);
    });
  });

  test("the function of ctx.commit does not compile if it returns a promise or a generator", () => {
    make().on("email.sent", (_, { commit }) => {
      // @ts-expect-error -- must be synchronous
      void commit(async () => undefined);
      // @ts-expect-error -- must be synchronous
      void commit(async ({ db }) => {
        await Promise.resolve(db);
      });
      // @ts-expect-error -- at times a promise
      void commit(({ db }) => (db.open ? Promise.resolve(1) : 5));
      // @ts-expect-error -- a thenable
      // oxlint-disable-next-line unicorn/no-thenable -- it must be refused
      void commit(() => ({ then: (resolve: (value: number) => void) => resolve(1) }));
      // @ts-expect-error -- a generator has not run
      void commit(function* () {});
      // @ts-expect-error -- an asynchronous one neither
      void commit(async function* ({ db }) {
        yield await Promise.resolve(db.exec("DELETE FROM people"));
      });
      // @ts-expect-error -- an iterator of better-sqlite3, which reads when it is asked
      void commit(({ db }) => db.prepare("SELECT 1").iterate());
      // @ts-expect-error -- at times a generator
      void commit(({ db }) => (db.open ? (function* () {})() : 5));
      // @ts-expect-error -- a generator
      const generator: CommitFunction = async function* () {};
      void generator;
      // @ts-expect-error -- must be synchronous
      const named: CommitFunction = async () => undefined;
      void named;
    });
  });
});

describe("the transaction of ctx.commit", () => {
  const store = createPostgresStore({ connectionString: "postgres://localhost/app" });

  test("the transaction of ctx.commit on PostgreSQL has a client, and its function returns a promise", () => {
    const receiver = createReceiver({ secrets: TEST_SECRET, schemas, store, logger: silent });
    expectTypeOf(receiver).toEqualTypeOf<Receiver<typeof schemas, PostgresTransaction>>();
    receiver
      .on("email.bounced", async ({ data }, ctx) => {
        expectTypeOf(data).toEqualTypeOf<Bounce>();
        expectTypeOf(ctx).toEqualTypeOf<HandlerContext<PostgresTransaction>>();
        await ctx.commit(({ client }) => client.query("DELETE FROM people WHERE email = $1", [data.recipient]));
        await ctx.commit(async (tx) => {
          expectTypeOf(tx).toEqualTypeOf<PostgresTransaction>();
          const { rows } = await tx.client.query<{ id: number }>("SELECT id FROM people");
          expectTypeOf(rows).toEqualTypeOf<{ id: number }[]>();
        });
        // @ts-expect-error -- of SQLite
        await ctx.commit(async ({ db }) => void db);
        // @ts-expect-error -- the promise of the query is not returned, so its failure would be missed
        await ctx.commit(({ client }) => void client.query("DELETE FROM people"));
      })
      .onUnhandled((_, { commit }) => commit(({ client }) => client.query("DELETE FROM people")));
  });

  test("the transaction of another store does not compile", () => {
    createTestReceiver().on("*", (_, { commit }) => {
      // @ts-expect-error -- of another database
      void commit(async ({ client }) => void client);
    });
    // @ts-expect-error -- its functions would get another transaction
    const ofSqlite: Store = store;
    void ofSqlite;
  });

  test("the transaction of ctx.commit is SQLite's for a path, for no store and for createSqliteStore", () => {
    const store = createSqliteStore({ file: ":memory:" });
    for (const receiver of [
      createReceiver({ secrets: TEST_SECRET, store, logger: silent }),
      createReceiver({ secrets: TEST_SECRET, store: ":memory:", logger: silent }),
      createReceiver({ secrets: TEST_SECRET, logger: silent }),
    ]) {
      expectTypeOf(receiver).toEqualTypeOf<Receiver<Record<never, never>, CommitTransaction>>();
    }
  });
});

test("the type of a pattern accepts a type, a group or a star", () => {
  expectTypeOf<EventPattern<keyof typeof schemas>>().toEqualTypeOf<
    EventType | "invoice.paid" | "email.*" | "domain.*" | "suppression.*" | "file.*" | "form.*" | "invoice.*" | "*"
  >();
  expectTypeOf<"email.bounced">().toExtend<EventPattern>();
  expectTypeOf<"email.bounce">().not.toExtend<EventPattern>();
});

describe("the types of onBatch", () => {
  test("the events of a batch are a list of what a handler of the same types gets", () => {
    make().onBatch(["email.bounced", "email.sent"], (events, ctx) => {
      for (const event of events) {
        if (event.type === "email.bounced") expectTypeOf(event.data).toEqualTypeOf<Bounce>();
        ctx.fail(event, new Error("no"));
        expectTypeOf(ctx.of(event).attempt).toEqualTypeOf<number>();
      }
      expectTypeOf(ctx).toEqualTypeOf<BatchContext>();
      // @ts-expect-error -- which event?
      ctx.step("a", () => 1);
    });
  });

  test("a duration that is none, and a key, are refused by the compiler", () => {
    const refused = (register: () => unknown): void => expect(register).toThrow(/handler "email\.sent"/);
    const nothing = (): void => undefined;
    // @ts-expect-error -- no duration
    refused(() => make().onBatch("email.sent", nothing, { wait: "soon" }));
    // @ts-expect-error -- two events of a key would be in one batch
    refused(() => make().onBatch("email.sent", nothing, { key: ({ id }: AnyEvent) => id }));
  });
});
