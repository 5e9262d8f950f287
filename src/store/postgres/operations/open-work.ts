/**
 * Work that is not done, as rows of FROM: by its indexes, so that the rows of what is done are not read. A condition on
 * its state or number is one on each half.
 */
export const OPEN_WORK = `(
    SELECT * FROM pigeonhole.inbox_work WHERE state IN ('pending', 'dead', 'parked')
    UNION ALL SELECT * FROM pigeonhole.inbox_work WHERE state = 'leased')`;
