import type { Scene } from "./layout-scene.js";

/** What must hold of the tables at any time; each fault is a line of text. */
export function findLayoutFaults(scene: Pick<Scene, "look">): string[] {
  const { marks, places } = readMarks(scene);
  return [
    ...findUnknownPairs(scene),
    ...findPairsTwice(scene),
    ...findMarksTwice(marks),
    ...findStrangers(scene, places),
  ];
}

/**
 * A pair that was leased with its event is in flight above the low-water mark, or has a row, a done mark or a shared
 * mark.
 */
function findUnknownPairs(scene: Pick<Scene, "look">): string[] {
  return scene
    .look<{ seq: number; handler: string }>(
      `SELECT e.seq, p.value AS handler FROM inbox_event AS e JOIN json_each(e.direct) AS p
       WHERE e.seq <= (SELECT value FROM counter WHERE name = 'settled_through')
         AND NOT EXISTS (SELECT 1 FROM inbox_work AS w WHERE w.seq = e.seq AND w.handler = p.value)
         AND NOT EXISTS (SELECT 1 FROM inbox_done AS d WHERE d.seq = e.seq AND d.handler = p.value)
         AND NOT EXISTS (SELECT 1 FROM inbox_marked AS m WHERE m.seq = e.seq AND m.handler = p.value)`,
    )
    .map(({ seq, handler }) => `${seq} ${handler} is nowhere`);
}

function findPairsTwice(scene: Pick<Scene, "look">): string[] {
  return scene
    .look<{ seq: number; handler: string }>(
      `SELECT seq, handler FROM (
         SELECT seq, handler FROM inbox_work UNION ALL SELECT seq, handler FROM inbox_done
         UNION ALL SELECT seq, handler FROM inbox_marked UNION ALL SELECT seq, handler FROM inbox_in_flight)
       GROUP BY seq, handler HAVING count(*) > 1`,
    )
    .map(({ seq, handler }) => `${seq} ${handler} is in two places`);
}

interface MarkedNumber {
  handler: string;
  seq: number;
}

/** Every number under a mark, read without the views. */
function readMarks(scene: Pick<Scene, "look">): { marks: string[]; places: MarkedNumber[] } {
  const places = scene
    .look<{ handler: string; first: number; last: number; bits: string | null }>("SELECT * FROM inbox_mark")
    .flatMap(({ handler, first, last, bits }) =>
      Array.from({ length: last - first + 1 }, (_, place) => ({ handler, seq: first + place })).filter(
        ({ seq }) => bits === null || bits[seq - first] === "1",
      ),
    );
  return { marks: places.map(({ handler, seq }) => `${seq} ${handler}`), places };
}

function findMarksTwice(marks: readonly string[]): string[] {
  return marks.filter((mark, index) => marks.indexOf(mark) !== index).map((mark) => `${mark} is marked twice`);
}

/** A mark covers only what was leased with its event; events that retention has dropped cannot tell any more. */
function findStrangers(scene: Pick<Scene, "look">, places: readonly MarkedNumber[]): string[] {
  const events = scene.look<{ seq: number; direct: string | null }>("SELECT seq, direct FROM inbox_event");
  const planned = new Map(events.map(({ seq, direct }) => [seq, JSON.parse(direct ?? "[]") as string[]]));
  return places
    .filter(({ handler, seq }) => planned.get(seq)?.includes(handler) === false)
    .map(({ handler, seq }) => `${seq} ${handler} is marked and was never leased with its event`);
}
