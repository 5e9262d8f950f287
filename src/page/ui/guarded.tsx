import type { FunctionComponent } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { errorMessage } from "../../base/error-text.js";
import { Empty } from "./empty.js";

/** A bug of the page is shown instead of leaving the window empty. */
export function Guarded({ view: View }: { view: FunctionComponent }) {
  const [error, forget] = useErrorBoundary();
  if (error === undefined) return <View />;
  return (
    <Empty title="The page has an error" isView>
      <p>{errorMessage(error)}</p>
      <button type="button" class="button" onClick={() => forget()}>
        Try again
      </button>
    </Empty>
  );
}
