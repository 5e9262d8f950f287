import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

interface VirtualRows {
  ref: RefObject<HTMLDivElement>;
  /** Rows to render: from `start` up to but not including `end`. */
  start: number;
  end: number;
  onScroll: () => void;
  scrollToRow: (index: number) => void;
}

/** Rows rendered beyond the visible ones, on either side. */
const OVERSCAN = 14;

/** The window moves in steps, so that most scroll events render nothing. */
const STEP = 6;

/** Which rows of a long list of equal rows are visible. Heights in pixels. */
export function useVirtualRows({ count, rowHeight }: { count: number; rowHeight: number }): VirtualRows {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(800);
  const [first, setFirst] = useState(0);

  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    setHeight(element.clientHeight);
    return () => observer.disconnect();
  }, []);

  const start = Math.max(0, Math.min(first, count) - OVERSCAN);
  const end = Math.min(count, first + Math.ceil(height / rowHeight) + STEP + OVERSCAN);
  return {
    ref,
    start,
    end,
    onScroll() {
      const top = ref.current?.scrollTop ?? 0;
      setFirst(Math.floor(top / rowHeight / STEP) * STEP);
    },
    scrollToRow(index) {
      const element = ref.current;
      if (element === null) return;
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight - element.clientHeight;
      }
    },
  };
}
