import type { EventType } from "./event-types.js";
import type { SchemaOutput, StandardSchema } from "./standard-schema.js";

/** `data` of an event without a schema: the service's documentation shows no shapes, so nothing is promised. */
export type EventData = Record<string, unknown>;

/** Schemas of `event.data` by event type. A type listed here counts as known. */
export type SchemaMap = { readonly [type: string]: StandardSchema };

/** An event of a known type, as a handler sees it. */
export interface KnownEvent<Type extends string = EventType, Data = EventData> {
  /** Unique per event; the dedup key. */
  readonly id: string;
  /** Event type, such as `email.bounced`; see docs/service.md#event-types. */
  readonly type: Type;
  /** ISO 8601 date-time, as sent. */
  readonly createdAt: string;
  /**
   * The event's data: what the schema of its type returns, or any JSON object without a schema. The service documents
   * no shape (docs/service.md#event-data).
   */
  readonly data: Data;
  /** True for the service's synthetic test delivery (an `email.sent` whose `data.test` is true). */
  readonly test: boolean;
  /** True for a type that this version or your `schemas` know; tells it apart from an {@link UnknownEvent}. */
  readonly known: true;
}

/** An event of a type that this version does not know; kept apart so that known types narrow. */
export interface UnknownEvent<Type extends string = string> {
  /** Unique per event; the dedup key. */
  readonly id: string;
  /** Event type, as sent. */
  readonly type: Type;
  /** ISO 8601 date-time, as sent. */
  readonly createdAt: string;
  /** The event's data, any JSON object. */
  readonly data: EventData;
  /** True for the service's synthetic test delivery; see docs/service.md#test-deliveries. */
  readonly test: boolean;
  /** False; tells it apart from a {@link KnownEvent}. */
  readonly known: false;
}

/** An event of any type, known to this version or not. */
export type AnyEvent = KnownEvent<string, unknown> | UnknownEvent;

declare const NEWER: unique symbol;

/**
 * The type of an unknown event under a pattern: a string, but none of the literals that code can compare it with. A
 * plain string would be equal to every literal, so a test of `type` could not rule the unknown event out. (An
 * intersection with a brand alone does not do: the compiler compares it as a plain string.)
 */
// oxlint-disable-next-line typescript/no-unnecessary-template-expression -- the brand alone would not narrow
export type NewerType = `${string & { readonly [NEWER]: true }}`;

type TypeOf<Schemas extends SchemaMap> = EventType | (keyof Schemas & string);

/** Each type as an event of its own, so that a test of `type` narrows `data`. */
type EventOf<Schemas extends SchemaMap, Type extends string> = Type extends string
  ? KnownEvent<Type, Type extends keyof Schemas ? SchemaOutput<Schemas[Type]> : EventData>
  : never;

type GroupOf<Type extends string> = Type extends `${infer Group}.${string}` ? Group : never;

/**
 * What `on` takes: a type, all types of a group (`email.*`), or every type (`*`). Own types are those with a schema;
 * not the schemas, since the compiler's error for a misspelt type would show them.
 */
export type EventPattern<OwnTypes extends string = never> =
  | EventType
  | OwnTypes
  | `${GroupOf<EventType | OwnTypes>}.*`
  | "*";

/** One, or several. Has a name, since the compiler's error shows it. */
export type OneOrMore<Item> = Item | readonly Item[];

/**
 * The events a pattern lets through, told apart by `type`. Patterns with a star also let through types that this
 * version does not know; their `known` is false.
 */
export type EventMatching<Schemas extends SchemaMap, Pattern extends string> = Pattern extends "*"
  ? EventOf<Schemas, TypeOf<Schemas>> | UnknownEvent<NewerType>
  : Pattern extends `${infer Group}.*`
    ? EventOf<Schemas, Extract<TypeOf<Schemas>, `${Group}.${string}`>> | UnknownEvent<NewerType>
    : EventOf<Schemas, Pattern>;
