import { type Store, createSqliteStore } from "pigeonhole";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";

/** A store in a file with all its connections on this thread: each thread of its own takes long to start. */
export function fileStore(file: string): Store {
  const store = createSqliteStore({ file, thread: false });
  let inbox: InboxOperator | undefined;
  let clock = Date.now;
  return {
    ...store,
    async open(context) {
      await store.open(context);
      inbox = await openInboxFile(file, { now: () => clock() });
    },
    openOperator(now) {
      clock = now;
      return new Proxy({} as InboxOperator, { get: (_, name) => Reflect.get(inbox ?? {}, name) as unknown });
    },
    async close() {
      await inbox?.close();
      await store.close();
    },
  };
}
