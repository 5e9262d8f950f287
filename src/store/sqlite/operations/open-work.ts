/** The condition of the index `inbox_work_open`; a statement that reads through it has it in these words. */
export const OPEN = "state <> 'done'";
