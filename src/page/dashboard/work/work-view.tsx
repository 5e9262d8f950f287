import { setParams } from "../state/dashboard-address.js";
import { EventList } from "./event-list.js";
import { HandlerPanel } from "./handler-panel.js";
import { JobPanel } from "./job-panel.js";
import { RunningPanel } from "./running-panel.js";
import { WORK_PARTS, workPart } from "./work-state.js";

const PANELS = { "": EventList, running: RunningPanel, handlers: HandlerPanel, jobs: JobPanel };

/** Events by the state of their work, what runs now, handlers, and jobs. */
export function WorkView() {
  const part = workPart.value;
  const Part = PANELS[part];
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Work</h1>
        <span class="spring" />
        <div class="segments" role="group" aria-label="What is shown">
          {WORK_PARTS.map(({ name, label }) => (
            <button type="button" key={name} aria-pressed={name === part} onClick={() => setParams({ show: name })}>
              {label}
            </button>
          ))}
        </div>
      </header>
      <Part />
    </div>
  );
}
