import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, test } from "vitest";
import type * as client from "pigeonhole/client";
import type * as dashboard from "pigeonhole/dashboard";
import type * as main from "pigeonhole";
import type * as postgres from "pigeonhole/postgres";
import type * as protocol from "pigeonhole/protocol";
import type * as sandbox from "pigeonhole/sandbox";
import type * as testing from "pigeonhole/testing";

/** The names of the optional members that may be left out, but not be undefined, under `exactOptionalPropertyTypes`. */
type RefusesUndefined<Options> = {
  [Name in keyof Options]-?: object extends Pick<Options, Name>
    ? undefined extends Required<Options>[Name]
      ? never
      : Name
    : never;
}[keyof Options];

/** Every public type that callers fill in, with its members that refuse `undefined`. */
interface Refusals {
  ApiFaultRule: RefusesUndefined<sandbox.ApiFaultRule>;
  BatchOptions: RefusesUndefined<main.BatchOptions>;
  CallOptions: RefusesUndefined<client.CallOptions>;
  ClientOptions: RefusesUndefined<client.ClientOptions>;
  DashboardOptions: RefusesUndefined<dashboard.DashboardOptions>;
  ContactEventInput: RefusesUndefined<main.ContactEventInput>;
  DeliverOptions: RefusesUndefined<testing.DeliverOptions>;
  DeliveryFaultRule: RefusesUndefined<sandbox.DeliveryFaultRule>;
  EmitOptions: RefusesUndefined<sandbox.EmitOptions>;
  EventQuery: RefusesUndefined<main.EventQuery>;
  HandlerOptions: RefusesUndefined<main.HandlerOptions>;
  OutboxQuery: RefusesUndefined<main.OutboxQuery>;
  ReceiverOptions: RefusesUndefined<main.ReceiverOptions<Record<never, never>>>;
  RetryAfterOptions: RefusesUndefined<main.RetryAfterOptions>;
  PostgresStoreOptions: RefusesUndefined<postgres.PostgresStoreOptions>;
  ReplayDirectoryOptions: RefusesUndefined<testing.ReplayDirectoryOptions>;
  SampleOptions: RefusesUndefined<testing.SampleOptions>;
  SandboxOptions: RefusesUndefined<sandbox.SandboxOptions>;
  SandboxProcessOptions: RefusesUndefined<sandbox.SandboxProcessOptions>;
  SignDeliveryInput: RefusesUndefined<protocol.SignDeliveryInput>;
  SqliteStoreOptions: RefusesUndefined<main.SqliteStoreOptions>;
  VerifySignatureInput: RefusesUndefined<protocol.VerifySignatureInput>;
  bodies: {
    [Name in client.CallName]: client.BodyOf<Name> extends readonly unknown[]
      ? never
      : RefusesUndefined<client.BodyOf<Name>>;
  }[client.CallName];
  nestedCredential: RefusesUndefined<NonNullable<client.ClientOptions["credential"]>>;
  nestedRetention: RefusesUndefined<NonNullable<main.ReceiverOptions<Record<never, never>>["retention"]>>;
  nestedRetry: RefusesUndefined<NonNullable<main.HandlerOptions["retry"]>>;
  nestedSignature: RefusesUndefined<NonNullable<main.ReceiverOptions<Record<never, never>>["signature"]>>;
}

const ENTRIES = ["index", "client", "dashboard", "postgres", "protocol", "sandbox", "store", "testing"];
const ROOT = new URL("../../", import.meta.url);

describe("public options", () => {
  test("an option may be given as undefined, which counts as omitted", () => {
    expectTypeOf<Refusals[keyof Refusals]>().toBeNever();
  });

  test("only the newest of a key can be asked for, and its key function is typed", () => {
    const on = (receiver: main.Receiver): void => {
      receiver.on("email.sent", () => undefined, { key: ({ id }) => id, only: "newest" });
      const options: main.HandlerOptions = { key: ({ type }) => type };
      receiver.on("email.sent", () => undefined, options);
      // @ts-expect-error -- without a key, no event is newer than another
      receiver.on("email.sent", () => undefined, { only: "newest" });
      // @ts-expect-error -- no such choice
      receiver.on("email.sent", () => undefined, { key: ({ id }) => id, only: "oldest" });
    };
    expect(on).toBeTypeOf("function");
  });

  test("a member that refuses undefined is told apart", () => {
    expectTypeOf<RefusesUndefined<{ a: number; b?: number; c?: number | undefined }>>().toEqualTypeOf<"b">();
  });

  test("the types of all options and inputs are in this file", () => {
    const exported = ENTRIES.flatMap((entry) => {
      const text = readFileSync(new URL(`src/${entry}.ts`, ROOT), "utf8");
      return [...text.matchAll(/\b(?!Headers)[A-Z]\w*(?:Options|Input|Rule|Query|Filter|Overrides)\b/g)].map(
        ([name]) => name,
      );
    });
    const own = readFileSync(new URL(import.meta.url), "utf8");
    const listed = new Set([...own.matchAll(/^ {2}(\w+): RefusesUndefined</gm)].map(([, name]) => name));
    expect(exported.length).toBeGreaterThan(20);
    expect(exported.filter((name) => !listed.has(name))).toEqual([]);
  });
});
