/** Maximum decompressed size of a message, bytes; publishers respect it too. */
export const MOST_UNFOLDED_BYTES = 16 * 1024 * 1024;

/** Maximum number of messages in a received bundle; publishers make far smaller ones. */
export const MOST_PARTS_TAKEN = 1_024;

/** Decompressed bytes per call of a handler; a single larger message comes alone. */
export const MOST_BATCH_BYTES = 32 * 1024 * 1024;
