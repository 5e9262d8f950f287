import { describe, expectTypeOf, test } from "vitest";
import type {
  AnswerOf,
  CallName,
  CallOptions,
  Client,
  ContactEventInput,
  BodyOf,
  Page,
  PagePromise,
  QueryOf,
} from "#pigeonhole/client.js";
import type { ContactEventSender, KeyedCallOptions } from "#pigeonhole/client/call-types.js";
import type { WebhookDelivery, WebhookEndpoint } from "#pigeonhole/contract/webhook-endpoint.js";

type ContactEventResult = AnswerOf<"contactEvents.send">;
type Result<Call extends (...args: never[]) => unknown> = Awaited<ReturnType<Call>>;

describe("the types of the client", () => {
  test("the types of contact events are those of the contract", () => {
    expectTypeOf<Client["contactEvents"]["send"]>().parameters.toEqualTypeOf<
      [input: ContactEventInput, options?: KeyedCallOptions]
    >();
    expectTypeOf<Result<Client["contactEvents"]["send"]>>().toEqualTypeOf<ContactEventResult>();
    expectTypeOf<"live">().toExtend<ContactEventResult["mode"]>();
    expectTypeOf<readonly ContactEventInput[]>().toExtend<Parameters<Client["contactEvents"]["sendBatch"]>[0]>();
    expectTypeOf<Result<Client["contactEvents"]["sendBatch"]>["accepted"][number]["index"]>().toEqualTypeOf<number>();
    expectTypeOf<Result<Client["contactEvents"]["sendBatch"]>["failed"][number]["code"]>().toExtend<string>();
    expectTypeOf<Result<Client["contactEvents"]["names"]>>().toEqualTypeOf<string[]>();
  });

  test("the type of an event to send requires its fields", () => {
    expectTypeOf<{ name: string; email: string }>().toExtend<ContactEventInput>();
    expectTypeOf<{
      name: string;
      email: string;
      properties: { a: number; b: { c: string[] } };
    }>().toExtend<ContactEventInput>();
    expectTypeOf<{ email: string }>().not.toExtend<ContactEventInput>();
    expectTypeOf<{ name: string; properties: { at: Date } }>().not.toExtend<ContactEventInput>();
  });

  test("the type of a call that makes something requires its fields, if there is one that it needs", () => {
    expectTypeOf<[id: string]>().toExtend<Parameters<Client["files"]["createLink"]>>();
    expectTypeOf<[]>().toExtend<Parameters<Client["drafts"]["create"]>>();
    expectTypeOf<[]>().not.toExtend<Parameters<Client["labels"]["create"]>>();
    expectTypeOf<[id: string]>().not.toExtend<Parameters<Client["labels"]["update"]>>();
  });

  test("the types of lists are pages and rows", () => {
    type List = Client["webhooks"]["list"];
    expectTypeOf<ReturnType<List>>().toEqualTypeOf<PagePromise<WebhookEndpoint>>();
    expectTypeOf<Result<List>>().toEqualTypeOf<Page<WebhookEndpoint>>();
    expectTypeOf<ReturnType<List>>().toExtend<AsyncIterable<WebhookEndpoint>>();
    expectTypeOf<Parameters<List>[0]>().toExtend<{ limit?: number | undefined } | undefined>();
    expectTypeOf<ReturnType<Client["webhooks"]["deliveries"]>>().toEqualTypeOf<PagePromise<WebhookDelivery>>();
    expectTypeOf<Parameters<Client["contactEvents"]["list"]>[0]>().toEqualTypeOf<string>();
  });

  test("the types of endpoints have the secret after creation and rotation only", () => {
    expectTypeOf<Result<Client["webhooks"]["create"]>>().toExtend<WebhookEndpoint & { secret: string }>();
    expectTypeOf<Result<Client["webhooks"]["rotateSecret"]>["secret"]>().toEqualTypeOf<string>();
    expectTypeOf<Result<Client["webhooks"]["get"]>["secret"]>().toEqualTypeOf<unknown>();
    expectTypeOf<WebhookEndpoint["description"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Parameters<Client["webhooks"]["replay"]>>().toEqualTypeOf<
      [id: string, deliveryId: string, options?: CallOptions]
    >();
    expectTypeOf<"email.sent">().toExtend<WebhookEndpoint["eventTypes"][number]>();
  });

  test("the types of a call have its name, so that an operation needs no exported type", () => {
    expectTypeOf<BodyOf<"labels.create">["name"]>().toEqualTypeOf<string>();
    expectTypeOf<BodyOf<"contactEvents.sendBatch">>().toEqualTypeOf<readonly ContactEventInput[]>();
    expectTypeOf<BodyOf<"labels.get">>().toBeNever();
    expectTypeOf<QueryOf<"files.upload">>().toEqualTypeOf<{ filename: string }>();
    expectTypeOf<AnswerOf<"webhooks.get">>().toEqualTypeOf<WebhookEndpoint>();
    expectTypeOf<AnswerOf<"webhooks.list">["items"][number]>().toEqualTypeOf<WebhookEndpoint>();
    expectTypeOf<AnswerOf<"files.content">>().toBeNever();
    expectTypeOf<"labels.none">().not.toExtend<CallName>();
  });

  test("only calls that accept an idempotency key have one in their types", () => {
    expectTypeOf<{ idempotencyKey: string }>().not.toExtend<NonNullable<Parameters<Client["webhooks"]["get"]>[1]>>();
  });

  test("the client fits the type of a sender of contact events, and so does another object", () => {
    expectTypeOf<Client>().toExtend<ContactEventSender>();
    const other = {
      contactEvents: {
        send: () => Promise.reject<ContactEventResult>(new Error("not here")),
        sendBatch: (events: readonly ContactEventInput[]) =>
          Promise.resolve({
            object: "x",
            accepted: [],
            failed: events.map((_, index) => ({ index, code: "x", message: "" })),
          }),
      },
    };
    expectTypeOf(other).toExtend<ContactEventSender>();
  });
});
