import type { SchemaField, SchemaNode, StringFormat } from "./schema-node.js";

const FORMATS: Record<StringFormat, string> = {
  email: "z.email()",
  datetime: "z.iso.datetime({ offset: true })",
  uuid: "z.uuid()",
  url: "z.url()",
};

/** The schema as a zod expression. Objects allow unknown fields: the service may add some. */
export function printSchema(node: SchemaNode, indent = ""): string {
  switch (node.kind) {
    case "unknown":
      return "z.unknown()";
    case "boolean":
      return "z.boolean()";
    case "number":
      return node.whole ? "z.int()" : "z.number()";
    case "string":
      if (node.format !== null) return FORMATS[node.format];
      return node.prefix === null ? "z.string()" : `z.string().startsWith(${JSON.stringify(node.prefix)})`;
    case "enum":
      return `z.enum([${node.values.map((value) => JSON.stringify(value)).join(", ")}])`;
    case "array":
      return `z.array(${printSchema(node.element, indent)})`;
    case "record":
      return `z.record(z.string(), ${printSchema(node.value, indent)})`;
    case "union":
      return `z.union([${node.members.map((member) => printSchema(member, indent)).join(", ")}])`;
    case "nullable":
      return `z.nullable(${printSchema(node.inner, indent)})`;
    case "object":
      return printObject(node.fields, indent);
  }
}

function printObject(fields: ReadonlyMap<string, SchemaField>, indent: string): string {
  const inner = `${indent}  `;
  const lines = [...fields].map(([key, { schema, optional }]) => {
    const printed = printSchema(schema, inner);
    return `${inner}${printKey(key)}: ${optional ? `z.optional(${printed})` : printed},\n`;
  });
  return `z.looseObject({\n${lines.join("")}${indent}})`;
}

function printKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
