import { defineCommand, withValue } from "../frame/spec.js";
import { parseWholeNumber } from "../values/parse-option.js";

export const postgresSchema = defineCommand({
  name: "postgres schema",
  isRare: true,
  group: "Set up",
  summary: "Prints the SQL of the tables that the store on PostgreSQL needs.",
  details:
    "For an administrator to run, in one transaction, where the user of the app may not create tables; give the store migrate: false then. Otherwise the store makes its tables at its first start.",
  options: {
    schema: withValue("name", "Schema of the tables.", { default: "pigeonhole" }),
    from: withValue("version", "The version that the tables have, as the error of the store says; 0 for none.", {
      parse: parseWholeNumber({ min: 0 }),
      default: "0",
    }),
    grant: withValue("user", "Gives this user of the database the rights that the store needs."),
  },
  examples: [
    ["pigeonhole postgres schema --grant app > schema.sql", "then, as an administrator: psql --file schema.sql app"],
  ],
});
