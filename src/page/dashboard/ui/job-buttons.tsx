import type { BulkJobRow } from "../../../web/api/jobs.js";
import { mayOperate } from "../../state/session.js";
import { changeJob } from "../state/jobs.js";

/** What a person can do with a job that is open. */
export function JobButtons({ job: { id, state, paused } }: { job: BulkJobRow }) {
  if (state !== "open" || !mayOperate.value) return null;
  return (
    <>
      {([paused ? "resume" : "pause", "cancel"] as const).map((change) => (
        <button key={change} type="button" class="button small" onClick={() => void changeJob(id, change)}>
          {WORDS[change]}
        </button>
      ))}
    </>
  );
}

const WORDS = { pause: "Pause", resume: "Resume", cancel: "Cancel" } as const;
