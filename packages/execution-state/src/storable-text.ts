/** A text as PostgreSQL takes it: without NUL characters and halves of surrogate pairs. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "");
