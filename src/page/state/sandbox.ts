import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { AdvanceBody, FaultBody, SandboxState } from "../../dev/sandbox/sandbox-state.js";
import {
  addSandboxFault,
  advanceSandbox,
  emitSandboxEvent,
  readSandbox,
  removeSandboxFault,
  resumeSandboxEndpoint,
} from "../api/calls.js";
import { runAction, showNotice } from "./notice.js";
import { formatSpan } from "../text/format.js";
import { session } from "./session.js";

/** The emulated service; null until it is loaded. */
const sandbox = signal<SandboxState | null>(null);

/** Goes up with each change in the sandbox. */
const changes = signal(0);

export function noteSandboxChange(): void {
  changes.value += 1;
}

let lastLoad = 0;

function loadSandbox(): Promise<boolean> {
  const load = ++lastLoad;
  return runAction(async () => {
    const state = await readSandbox();
    // An answer that was overtaken is older than what is shown.
    if (load === lastLoad) sandbox.value = state;
  });
}

/** The sandbox as it is now, as long as the component is shown; null without one. */
export function useSandbox(): SandboxState | null {
  const isGiven = session.value?.sandbox === true;
  const change = changes.value;
  useEffect(() => void (isGiven && loadSandbox()), [isGiven, change]);
  return isGiven ? sandbox.value : null;
}

/** Moves the sandbox's clock; the attempts that become due are made meanwhile. */
export function advanceClock(body: AdvanceBody): Promise<boolean> {
  return runAction(async () => {
    const { advancedMs, state } = await advanceSandbox(body);
    sandbox.value = state;
    showNotice(
      advancedMs === null
        ? { tone: "plain", text: "No attempt is planned, so the clock stays" }
        : { tone: "good", text: `The sandbox's clock is ${formatSpan(advancedMs)} further` },
    );
  });
}

/** Shows the state that a change has led to. */
const show = (change: Promise<SandboxState>) => runAction(async () => void (sandbox.value = await change));

export const addFault = (body: FaultBody) => show(addSandboxFault(body));

export const endFault = (id: string) => show(removeSandboxFault(id));

/** Switches on an endpoint that the service has switched off. */
export const resumeEndpoint = (id: string) => show(resumeSandboxEndpoint(id));

/** Fires a sample event of the type, whose deliveries then come in. */
export function fireEvent(type: string): Promise<boolean> {
  return runAction(async () => {
    const { deliveries } = await emitSandboxEvent({ type });
    showNotice(
      deliveries === 0
        ? { tone: "warn", text: `No endpoint receives ${type}, so the event is lost` }
        : { tone: "good", text: `Fired ${type}` },
    );
  });
}
