import { type StreamState, streamState } from "../state/stream-state.js";

const WORDS: Record<StreamState, string> = {
  connecting: "connecting",
  live: "live",
  polling: "every 3 s",
  lost: "lost, trying again",
  ended: "stopped, trying again",
};

const TONES: Record<StreamState, string> = {
  connecting: "mute",
  live: "good",
  polling: "good",
  lost: "bad",
  ended: "bad",
};

/** Whether the page is live, at the end of the top bar. `server`: who answers, such as `The app`. */
export function ConnectionState({ server }: { server: string }) {
  const state = streamState.value;
  const meanings: Record<StreamState, string> = {
    connecting: "Connecting.",
    live: "What is new appears by itself.",
    polling: "Too many pages are open; this one reads every 3 s.",
    lost: `${server} does not answer. What is shown may be old.`,
    ended: "The receiver has stopped. What is shown may be old.",
  };
  return (
    <span class={`connection ${TONES[state]}`} role="status" title={meanings[state]}>
      <span class="connection-dot" />
      {WORDS[state]}
    </span>
  );
}
