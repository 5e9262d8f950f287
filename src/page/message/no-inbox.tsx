/** Why the result of the handlers is not known, and how to show it. */
export function NoInbox() {
  return (
    <>
      <p>Start the dev server with --inbox and the database of your receiver, a SQLite file or a PostgreSQL:</p>
      <p>
        <code>pigeonhole dev --inbox inbox.db</code>
      </p>
      <p>
        <code>pigeonhole dev --inbox postgres://…</code>
      </p>
    </>
  );
}
