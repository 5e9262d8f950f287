/** Why the result of the handlers is not known, and how to show it. */
export function NoInbox() {
  return (
    <>
      <p>Start the dev server with --inbox and the SQLite file of your receiver:</p>
      <p>
        <code>pigeonhole dev --inbox inbox.db</code>
      </p>
    </>
  );
}
