/** Converts a text to one that PostgreSQL stores: without NUL characters and lone surrogates. */
export const sanitizeText = (text: string): string => text.toWellFormed().replaceAll("\0", "");
