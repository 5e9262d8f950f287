import type { ContactEventRow } from "../../dev/api/page-api.js";
import { Icon } from "../ui/icon.js";
import { changeRows } from "./inbox-selection.js";

/** Retry for what is dead, Discard for what is dead or not part of a call yet. */
export function ContactEventButtons({ event: { key, state } }: { event: ContactEventRow }) {
  return (
    <>
      {state === "dead" && (
        <button type="button" class="button primary" onClick={() => void changeRows([key], "retry")}>
          <Icon name="replay" /> Retry
        </button>
      )}
      {(state === "dead" || state === "pending") && (
        <button type="button" class="button danger" onClick={() => void changeRows([key], "discard")}>
          <Icon name="trash" /> Discard
        </button>
      )}
    </>
  );
}
