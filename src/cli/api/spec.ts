import { defineCommand, withValue } from "../frame/spec.js";

export const api = defineCommand({
  name: "api",
  group: "Operate",
  summary: "Calls any operation of the API, or shows what there is.",
  details:
    "Without a call it lists the resources; with a resource, its calls. --help after a call shows its fields, errors and an example. Calls that change something are sent once, and without a question. The answer is printed as JSON. The API and its key are those of PIGEONHOLE_BASE_URL and PIGEONHOLE_API_KEY, of the environment or of .env, or of a running dev --with-sandbox.",
  arguments: {
    call: {
      optional: true,
      summary: "Name of the call, such as contacts.get, or of a resource, such as contacts.",
    },
    params: { optional: true, variadic: true, summary: "The parameters of its path, in order." },
  },
  options: {
    query: withValue("field=value", "A field of the query, such as limit=10.", { repeat: true }),
    body: withValue("json", "The body: JSON, @file, or @- for standard input. For an upload, the bytes of the file."),
    contentType: withValue("type", "Content type of an upload. Default: application/octet-stream."),
    idempotencyKey: withValue("key", "The same key with the same body has one effect."),
    all: { summary: "Every row of a list, instead of the first page." },
    out: withValue("file", "Writes a download to this file."),
    help: { short: "h", summary: "Prints help; after a call or a resource, about it." },
  },
  examples: [
    ["pigeonhole api contacts.create --help", "what the call takes, answers and refuses"],
    ["pigeonhole api contacts.get ada@customer.example.com", "one contact"],
    ["pigeonhole api files.list --query direction=inbound --query since=2026-01-30T00:00:00Z --all", "every such file"],
    ['pigeonhole api labels.create --body \'{"name":"Big orders"}\'', "a new label"],
    ["pigeonhole api files.upload --query filename=a.pdf --body @a.pdf --content-type application/pdf", "an upload"],
  ],
});
