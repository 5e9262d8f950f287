/** Takes a row of `inbox_work` out of its group of errors. */
export const CLEAR_FAILURE = "error_type = NULL, error_group = NULL, failed_at = NULL";
