import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

interface SplitPaneOptions {
  /** The name under which the browser stores the position of the bar. */
  name: string;
  /** Initial share of the right side, 0 to 1. */
  share: number;
  left: ComponentChildren;
  /** Null: the left side takes all. */
  right: ComponentChildren | null;
}

const MIN_SHARE = 0.25;
const MAX_SHARE = 0.75;
const STEP = 0.03;

/** Two panes with a bar between them, which the pointer and the arrow keys move. */
export function SplitPane({ name, share: initial, left, right }: SplitPaneOptions) {
  const key = `pigeonhole.split.${name}`;
  const root = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => clamp(Number(localStorage.getItem(key) ?? initial)));
  const place = (next: number) => {
    setShare(clamp(next));
    localStorage.setItem(key, String(clamp(next)));
  };
  const drag = (event: PointerEvent) => {
    const box = root.current?.getBoundingClientRect();
    if (event.buttons === 1 && box !== undefined) place((box.right - event.clientX) / box.width);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    place(share + (event.key === "ArrowLeft" ? STEP : -STEP));
  };
  const flexOf = (part: number) => ({ flex: `${part} 1 0` });
  const isAlone = right === null;
  return (
    <div class="split" ref={root}>
      <div class="split-side" style={flexOf(isAlone ? 1 : 1 - share)}>
        {left}
      </div>
      {!isAlone && (
        <>
          <div
            class="split-bar"
            role="separator"
            aria-label="Width of the panes"
            aria-orientation="vertical"
            aria-valuenow={Math.round(share * 100)}
            aria-valuemin={MIN_SHARE * 100}
            aria-valuemax={MAX_SHARE * 100}
            tabIndex={0}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={drag}
            onDblClick={() => place(initial)}
            onKeyDown={onKeyDown}
          />
          <div class="split-side" style={flexOf(share)}>
            {right}
          </div>
        </>
      )}
    </div>
  );
}

function clamp(share: number): number {
  return Number.isFinite(share) ? Math.min(MAX_SHARE, Math.max(MIN_SHARE, share)) : 0.5;
}
