/** Most that a compressed message may unfold to, bytes; a publisher does not send more. */
export const MOST_UNFOLDED_BYTES = 16 * 1024 * 1024;

/** Most messages that travel as one, on arrival: a publisher puts far fewer together. */
export const MOST_PARTS_TAKEN = 1_024;

/** Bytes, unfolded, of the messages that a handler is given at once; one that alone has more comes alone. */
export const MOST_BATCH_BYTES = 32 * 1024 * 1024;
