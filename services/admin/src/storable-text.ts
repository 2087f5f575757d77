/** A text as PostgreSQL takes it: without NUL characters and halves of surrogate pairs. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "");

const MAX_REASON = 1_000;

/** Why something could not be done. Texts of errors may be of megabytes; who asks reads the beginning. */
export const reasonText = (reason: string): string => storableText(reason).slice(0, MAX_REASON);
