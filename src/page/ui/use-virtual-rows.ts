import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

interface VirtualRows {
  ref: RefObject<HTMLDivElement>;
  /** Height of a row at the present width of the list. */
  rowHeight: number;
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

interface ListOptions {
  count: number;
  /** The height of a row in a list of that width. */
  rowHeightAt: (width: number) => number;
}

/** Which rows of a long list of equal rows are visible. Widths and heights in pixels. */
export function useVirtualRows({ count, rowHeightAt }: ListOptions): VirtualRows {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(800);
  const [rowHeight, setRowHeight] = useState(() => rowHeightAt(Number.POSITIVE_INFINITY));
  const [first, setFirst] = useState(0);

  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => {
      setHeight(element.clientHeight);
      setRowHeight(rowHeightAt(element.clientWidth));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const start = Math.max(0, Math.min(first, count) - OVERSCAN);
  const end = Math.min(count, first + Math.ceil(height / rowHeight) + STEP + OVERSCAN);
  return {
    ref,
    rowHeight,
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
