/** The rows of the tables that do not fit together, as a query; each one is a line of text. */
export const faultsIn = (schema: string): string => `
  SELECT seq || ' ' || handler || ' has no event' AS fault FROM ${schema}.inbox_work
  WHERE seq NOT IN (SELECT seq FROM ${schema}.inbox_event)
  UNION ALL SELECT seq || ' has open work and no body' FROM ${schema}.inbox_work
  WHERE state <> 'done' AND seq NOT IN (SELECT seq FROM ${schema}.inbox_body)
  UNION ALL SELECT seq || ' ' || handler || ' was done by no run that ended' FROM ${schema}.inbox_work
  WHERE state = 'done' AND NOT discarded AND finished = 0`;

/** On PostgreSQL, leases of one statement share their token. */
export const FAULTS_IN_FILE = `${faultsIn("main")}
  UNION ALL SELECT lease || ' is the token of two leases' FROM inbox_work WHERE state = 'leased'
  GROUP BY lease HAVING count(*) > 1`;
