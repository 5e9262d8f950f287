import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  type AnyEvent,
  type CommitFunction,
  type EventData,
  type EventPattern,
  type EventType,
  type HandlerContext,
  type KnownEvent,
  type UnknownEvent,
  createReceiver,
} from "pigeonhole";
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
  test("the type of a handler's event is the schema's output where there is one", () => {
    make().on("email.bounced", (event, ctx) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.bounced", Bounce>>();
      expectTypeOf(event.data.at).toEqualTypeOf<Date>();
      expectTypeOf(event.known).toEqualTypeOf<true>();
      expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
    });
  });

  test("the type of a handler's event has unknown fields where there is no schema", () => {
    make().on("email.sent", (event) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.sent", EventData>>();
      expectTypeOf(event.data["anything"]).toEqualTypeOf<unknown>();
    });
    createTestReceiver().on("email.bounced", (event) => {
      expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
  });

  test("the type of a handler's event is a union for several types, which the type tells apart", () => {
    make().on(["email.bounced", "email.opened", "email.sent"], (event) => {
      expectTypeOf(event.type).toEqualTypeOf<"email.bounced" | "email.opened" | "email.sent">();
      if (event.type === "email.bounced") expectTypeOf(event.data).toEqualTypeOf<Bounce>();
      else if (event.type === "email.opened") expectTypeOf(event.data).toEqualTypeOf<{ ip: string }>();
      else expectTypeOf(event.data).toEqualTypeOf<EventData>();
    });
  });

  test("the type of a handler's event is every type of a group, and unknown ones", () => {
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

  test("the type of a handler's event is every type for a star, narrowed by known and then by type", () => {
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

  test("the type of a handler's event is narrowed by type alone, under a group and under a star", () => {
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

  test("the type of a handler's event under a group is not compared with a name that is not there", () => {
    make().on("email.*", (event) => {
      // @ts-expect-error -- misspelt
      if (event.type === "email.bounce") return true;
      // @ts-expect-error -- of another group
      return event.type === "invoice.paid";
    });
  });

  test("the type of a handler's event fits a function that takes any event", () => {
    const audit = (event: AnyEvent): string => event.type;
    make().on("email.*", (event) => audit(event));
    make().on("*", audit);
  });

  test("the type of a handler's event is any event for onUnhandled", () => {
    make().onUnhandled((event) => expectTypeOf(event).toEqualTypeOf<AnyEvent>());
  });

  test("the type of a handler's event is the one that key gets", () => {
    make().on("email.bounced", () => undefined, {
      key(event) {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<"email.bounced", Bounce>>();
        return event.data.recipient;
      },
    });
  });

  test("the type of a handler's event cannot be changed but in its data", () => {
    make().on("email.bounced", (event) => {
      // @ts-expect-error -- read-only
      event.id = "evt_other";
      event.data.recipient = "ok";
    });
  });
});

describe("a name that the service does not have is refused by the compiler and when it runs:", () => {
  test("a name that the service does not have is refused by the compiler and when it runs: a misspelt type", () => {
    // @ts-expect-error -- misspelt
    expect(() => make().on("email.bounce", () => undefined)).toThrow("not an event type");
  });
  test("a name that the service does not have is refused by the compiler and when it runs: one misspelt type of several", () => {
    // @ts-expect-error -- misspelt
    expect(() => make().on(["email.sent", "email.bounce"], () => undefined)).toThrow("not an event type");
  });
  test("a name that the service does not have is refused by the compiler and when it runs: a group that does not exist", () => {
    // @ts-expect-error -- misspelt
    expect(() => make().on("mail.*", () => undefined)).toThrow("not an event type");
  });
  test("a name that the service does not have is refused by the compiler and when it runs: another case", () => {
    // @ts-expect-error -- misspelt
    expect(() => make().on("Email.Sent", () => undefined)).toThrow("not an event type");
  });
  test("a name that the service does not have is refused by the compiler and when it runs: a type of somebody else's schemas", () => {
    // @ts-expect-error -- has no entry in these schemas
    expect(() => createTestReceiver().on("invoice.paid", () => undefined)).toThrow("not an event type");
  });
  test("a name that the service does not have is refused by the compiler and when it runs: half a type with a star", () => {
    // @ts-expect-error -- stars stand for whole parts
    expect(() => make().on("email.bo*", () => undefined)).toThrow("not an event type");
  });
});

describe("the compiler refuses, and so does the receiver,", () => {
  test("the compiler refuses, and so does the receiver, an option that does not exist; the compiler a key that is no text, too", () => {
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

  test("the compiler refuses, and so does the receiver, a receiver without secrets, and options that do not exist", () => {
    // @ts-expect-error -- no secrets
    expect(() => createReceiver({})).toThrow("secrets");
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

test("the context promises what its functions give", () => {
  expectTypeOf<ReturnType<HandlerContext["commit"]>>().toEqualTypeOf<Promise<void>>();
  expectTypeOf<ReturnType<HandlerContext["step"]>>().toEqualTypeOf<Promise<unknown>>();
  createTestReceiver().on("email.sent", async (_, ctx) => {
    expectTypeOf(await ctx.step("n", () => 5)).toEqualTypeOf<number>();
    expectTypeOf(await ctx.step("p", () => Promise.resolve({ a: 1 }))).toEqualTypeOf<{ a: number }>();
  });
});

describe("the function given to ctx.commit", () => {
  test("the function given to ctx.commit may return nothing, or any value that is not a promise", () => {
    make().on("email.sent", async (_, { commit }) => {
      const statement = (): unknown => 1;
      await commit(() => undefined);
      await commit(({ db }) => void db);
      await commit(({ db }) => db.prepare("DELETE FROM people").run());
      await commit(({ db }) => db.prepare("SELECT 1").get());
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

  test("the function given to ctx.commit does not compile when it returns a promise", () => {
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
      // @ts-expect-error -- must be synchronous
      const named: CommitFunction = async () => undefined;
      void named;
    });
  });
});

test("a pattern is a type, a group or a star", () => {
  expectTypeOf<EventPattern<typeof schemas>>().toEqualTypeOf<
    EventType | "invoice.paid" | "email.*" | "domain.*" | "suppression.*" | "file.*" | "form.*" | "invoice.*" | "*"
  >();
  expectTypeOf<"email.bounced">().toExtend<EventPattern<{}>>();
  expectTypeOf<"email.bounce">().not.toExtend<EventPattern<{}>>();
});

test("registration can be chained and keeps the schemas", () => {
  const receiver = make();
  const chained = receiver
    .on("email.sent", () => undefined)
    .on("email.bounced", ({ data }) => expectTypeOf(data).toEqualTypeOf<Bounce>());
  expect(chained).toBe(receiver);
});
