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
  DedicatedIpInput: RefusesUndefined<sandbox.DedicatedIpInput>;
  MailAccountInput: RefusesUndefined<sandbox.MailAccountInput>;
  MailServerInput: RefusesUndefined<sandbox.MailServerInput>;
  MailboxConnectInput: RefusesUndefined<client.MailboxConnectInput>;
  MailboxUpdateInput: RefusesUndefined<client.MailboxUpdateInput>;
  RoleUpdateInput: RefusesUndefined<client.RoleUpdateInput>;
  RoleCreateInput: RefusesUndefined<client.RoleCreateInput>;
  OwnerCaller: RefusesUndefined<sandbox.OwnerCaller>;
  MemberInput: RefusesUndefined<sandbox.MemberInput>;
  MemberCaller: RefusesUndefined<sandbox.MemberCaller>;
  KeyCaller: RefusesUndefined<sandbox.KeyCaller>;
  InvitationInput: RefusesUndefined<sandbox.InvitationInput>;
  ApiKeyUpdateInput: RefusesUndefined<client.ApiKeyUpdateInput>;
  ApiKeyCreateInput: RefusesUndefined<client.ApiKeyCreateInput>;
  ApiFaultRule: RefusesUndefined<sandbox.ApiFaultRule>;
  AttemptFilter: RefusesUndefined<sandbox.AttemptFilter>;
  BatchCallOptions: RefusesUndefined<client.BatchCallOptions>;
  BackupOptions: RefusesUndefined<main.BackupOptions>;
  CallOptions: RefusesUndefined<client.CallOptions>;
  ClientOptions: RefusesUndefined<client.ClientOptions>;
  DashboardOptions: RefusesUndefined<dashboard.DashboardOptions>;
  AudienceInput: RefusesUndefined<sandbox.AudienceInput>;
  ChatInput: RefusesUndefined<sandbox.ChatInput>;
  ChatUpdateInput: RefusesUndefined<client.ChatUpdateInput>;
  ContactCreateInput: RefusesUndefined<client.ContactCreateInput>;
  ContactUpdateInput: RefusesUndefined<client.ContactUpdateInput>;
  ContactEventInput: RefusesUndefined<main.ContactEventInput>;
  ContactInput: RefusesUndefined<sandbox.ContactInput>;
  DeliverOptions: RefusesUndefined<testing.DeliverOptions>;
  DeliveryFaultRule: RefusesUndefined<sandbox.DeliveryFaultRule>;
  DraftCreateInput: RefusesUndefined<client.DraftCreateInput>;
  DraftUpdateInput: RefusesUndefined<client.DraftUpdateInput>;
  DrainOptions: RefusesUndefined<main.DrainOptions>;
  EmitOptions: RefusesUndefined<sandbox.EmitOptions>;
  EraseCapturesOptions: RefusesUndefined<main.EraseCapturesOptions>;
  EraseOptions: RefusesUndefined<main.EraseOptions>;
  EventQuery: RefusesUndefined<main.EventQuery>;
  FormCreateInput: RefusesUndefined<client.FormCreateInput>;
  FormUpdateInput: RefusesUndefined<client.FormUpdateInput>;
  HandlerOptions: RefusesUndefined<main.HandlerOptions>;
  KeyedCallOptions: RefusesUndefined<client.KeyedCallOptions>;
  LabelCreateInput: RefusesUndefined<client.LabelCreateInput>;
  LabelUpdateInput: RefusesUndefined<client.LabelUpdateInput>;
  OnceInput: RefusesUndefined<main.OnceInput<unknown>>;
  OutboxQuery: RefusesUndefined<main.OutboxQuery>;
  PathOverrides: RefusesUndefined<client.PathOverrides>;
  ReceiverOptions: RefusesUndefined<main.ReceiverOptions<Record<never, never>>>;
  PostgresStoreOptions: RefusesUndefined<postgres.PostgresStoreOptions>;
  RecordOptions: RefusesUndefined<main.RecordOptions>;
  ReplayDirectoryOptions: RefusesUndefined<testing.ReplayDirectoryOptions>;
  RepairOptions: RefusesUndefined<main.RepairOptions>;
  RetryAllQuery: RefusesUndefined<main.RetryAllQuery>;
  RetryDelayInput: RefusesUndefined<protocol.RetryDelayInput>;
  RotateApiKeyOptions: RefusesUndefined<main.RotateApiKeyOptions>;
  RotateSecretOptions: RefusesUndefined<main.RotateSecretOptions>;
  SampleOptions: RefusesUndefined<testing.SampleOptions>;
  SandboxListenOptions: RefusesUndefined<sandbox.SandboxListenOptions>;
  SandboxOptions: RefusesUndefined<sandbox.SandboxOptions>;
  SandboxProcessOptions: RefusesUndefined<sandbox.SandboxProcessOptions>;
  SandboxResetOptions: RefusesUndefined<sandbox.SandboxResetOptions>;
  SignDeliveryInput: RefusesUndefined<protocol.SignDeliveryInput>;
  SignatureCopyInput: RefusesUndefined<client.SignatureCopyInput>;
  SignatureCreateInput: RefusesUndefined<client.SignatureCreateInput>;
  SignatureUpdateInput: RefusesUndefined<client.SignatureUpdateInput>;
  SqliteStoreOptions: RefusesUndefined<main.SqliteStoreOptions>;
  StopOptions: RefusesUndefined<main.StopOptions>;
  UploadCallOptions: RefusesUndefined<client.UploadCallOptions>;
  VerifySignatureInput: RefusesUndefined<protocol.VerifySignatureInput>;
  WebhookCreateInput: RefusesUndefined<client.WebhookCreateInput>;
  WebhookUpdateInput: RefusesUndefined<client.WebhookUpdateInput>;
  nestedCredential: RefusesUndefined<NonNullable<client.ClientOptions["credential"]>>;
  nestedRetention: RefusesUndefined<NonNullable<main.ReceiverOptions<Record<never, never>>["retention"]>>;
  nestedRetry: RefusesUndefined<NonNullable<main.HandlerOptions["retry"]>>;
  nestedSignature: RefusesUndefined<NonNullable<main.ReceiverOptions<Record<never, never>>["signature"]>>;
}

const ENTRIES = ["index", "client", "dashboard", "postgres", "protocol", "sandbox", "testing"];
const ROOT = new URL("../", import.meta.url);

describe("public options", () => {
  test("an option may be given as undefined, which counts as omitted", () => {
    expectTypeOf<Refusals[keyof Refusals]>().toBeNever();
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
