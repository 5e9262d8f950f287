import type { Scene } from "./layout-scene.js";

/** What must hold of the tables at any time, beside their checks; each fault is a line of text. */
export function findLayoutFaults(scene: Pick<Scene, "look">): string[] {
  return [
    ...scene.look<{ fault: string }>(`
      SELECT seq || ' ' || handler || ' has no event' AS fault FROM inbox_work
      WHERE seq NOT IN (SELECT seq FROM inbox_event)`),
    ...scene.look<{ fault: string }>(`
      SELECT seq || ' has open work and no body' AS fault FROM inbox_work
      WHERE state <> 'done' AND seq NOT IN (SELECT seq FROM inbox_body)`),
    ...scene.look<{ fault: string }>(`
      SELECT lease || ' is the token of two leases' AS fault FROM inbox_work WHERE state = 'leased'
      GROUP BY lease HAVING count(*) > 1`),
  ].map(({ fault }) => fault);
}
