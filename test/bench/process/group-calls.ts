/** Batches under way at once, and rows in a batch. */
const MAX_BATCHES = 2;
const MAX_ROWS = 128;

interface Waiting<Row> {
  row: Row;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Whatever came while the batches before were under way is the next batch. */
export function groupCalls<Row>(send: (rows: Row[]) => Promise<unknown>): (row: Row) => Promise<void> {
  let waiting: Waiting<Row>[] = [];
  let underWay = 0;
  const sendSome = async (): Promise<void> => {
    if (underWay >= MAX_BATCHES || waiting.length === 0) return;
    underWay += 1;
    const batch = waiting.slice(0, MAX_ROWS);
    waiting = waiting.slice(MAX_ROWS);
    try {
      await send(batch.map(({ row }) => row));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay -= 1;
    await sendSome();
  };
  return (row) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void sendSome());
      waiting.push({ row, resolve, reject });
    });
}
