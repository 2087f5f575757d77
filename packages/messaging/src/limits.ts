/** Maximum decompressed size of a message, bytes; publishers respect it too. */
export const MAX_DECOMPRESSED_BYTES = 16 * 1024 * 1024;

/** Maximum number of messages in a received batch; publishers make far smaller ones. */
export const MAX_RECEIVED_BATCH_MESSAGES = 1_024;

/** Decompressed bytes per call of a handler; a single larger message comes alone. */
export const MAX_HANDLER_BATCH_BYTES = 32 * 1024 * 1024;
