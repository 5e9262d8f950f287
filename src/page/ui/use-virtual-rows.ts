import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows rendered beyond the visible ones, on either side. */
const OVERSCAN = 14;

/** The window moves in steps, so that most scroll events render nothing. */
const STEP = 6;

/**
 * Which rows of a long list of equal rows are visible: from `start` up to but not including `end`. Widths and heights
 * are in pixels.
 *
 * @param rowHeightAt The height of a row in a list of that width.
 */
export function useVirtualRows(count: number, rowHeightAt: (width: number) => number) {
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
    onScroll: () => {
      const top = ref.current?.scrollTop ?? 0;
      setFirst(Math.floor(top / rowHeight / STEP) * STEP);
    },
    scrollToRow: (index: number) => {
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
