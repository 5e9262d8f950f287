/** Drawn on a grid of 16, in the colour of the text around. */
const PATHS = {
  deliveries: "M2 9.5h3.2l1.3 2h3l1.3-2H14M4 3h8l2 6.5V13H2V9.5z",
  send: "M14 2 7.2 8.8M14 2 9.6 14 7.2 8.8 2 6.4z",
  inbox:
    "M2.5 4c0-1.1 2.5-2 5.5-2s5.5 0.9 5.5 2-2.5 2-5.5 2-5.5-.9-5.5-2zm0 0v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2",
  sandbox: "M8 1.8 13.5 4.9v6.2L8 14.2l-5.5-3.1V4.9zM2.5 4.9 8 8l5.5-3.1M8 8v6.2",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.6-1.4L14 14",
  check: "m3 8.5 3.2 3.2L13 5",
  cross: "m4 4 8 8m0-8-8 8",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zm0-9.5V8l2.3 1.6",
  question:
    "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3c.2-1 .9-1.5 1.8-1.5 1 0 1.7.6 1.7 1.5 0 1.2-1.7 1.3-1.7 2.4m0 2.2v.1",
  warning: "M8 2.5 14.2 13H1.8zM8 6.5v3m0 1.7v.1",
  replay: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  edit: "m3 13 .7-3L10.5 3.2l2.3 2.3L6 12.3zM9 4.7l2.3 2.3",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  pin: "M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5",
  download: "M8 2.5V10m-3-3 3 3 3-3M3 13h10",
  share: "M8 9.5V2M5 5l3-3 3 3M4.5 7.5H3v6h10v-6h-1.5",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.1",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4m2-4v4",
  chevron: "m4.5 6.5 3.5 3.5 3.5-3.5",
  keyboard: "M1.5 4.5h13v7h-13zM4 7h.1M6.5 7h.1M9 7h.1m2.4 0h.1M5 9.5h6",
  arrow: "M3 8h9.5M9 4.5 12.5 8 9 11.5",
  minus: "M4 8h8",
  pause: "M5.5 3.5v9m5-9v9",
  chart: "M2.5 2.5v11h11M5.5 10.5V7.5m3 3V4.5m3 6v-4",
  eye: "M1.5 8c1.6-2.8 3.8-4.2 6.5-4.2s4.9 1.4 6.5 4.2c-1.6 2.8-3.8 4.2-6.5 4.2S3.1 10.8 1.5 8zm6.5 1.9a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8z",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon beside text. It is hidden from screen readers, which read the text. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
